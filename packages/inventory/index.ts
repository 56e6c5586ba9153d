export { externalSignature, signatureFits } from './external-signature.ts';
export { inventoryAudits } from './inventory-audits.ts';
export { type OpenedInventory, openInventory } from './open-inventory.ts';
export type { Demand, Inventory, InventoryStatus, StockHold, WriteOrderStatus } from './provider.ts';
export { inventorySettings } from './settings.ts';
export { openStockKeeper } from './stock-keeper.ts';
export { shelveSeeded } from './take-over.ts';
