export type { Delivered } from './deliver-tasks.ts';
export { externalSignature, signatureFits } from './external-signature.ts';
export { inventoryAudits } from './inventory-audits.ts';
export { failTasks, type Managed, retryTasks } from './manage-tasks.ts';
export { type Delivery, openDelivery } from './open-external.ts';
export { type OpenedInventory, openInventory } from './open-inventory.ts';
export { type Ping, pingWarehouse } from './ping-warehouse.ts';
export type { Demand, Inventory, InventoryStatus, StockHold, WriteOrderStatus } from './provider.ts';
export { inventoryRetention } from './retention.ts';
export {
  externalAppKey,
  externalAppSecret,
  externalMode,
  inventoryProvider,
  inventorySettings,
  missingSettings,
  settingCommand,
  signatureTtl,
} from './settings.ts';
export { openStockKeeper } from './stock-keeper.ts';
export { shelveSeeded } from './take-over.ts';
export { type TaskAction, type TaskStatus, taskActions, taskStatuses } from './task.ts';
export { countTasks, selectTask, selectTasks, type TaskFilter, type TaskRow } from './task-list-store.ts';
export {
  selectCallbacks,
  selectSomeSkus,
  selectTaskCounts,
  selectTaskEffects,
  type TaskCounts,
  type TaskEffect,
} from './task-report-store.ts';
