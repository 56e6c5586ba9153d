export type { CompletedDocument } from './documents/document-hooks.ts';
export { inventoryModule, inventoryService } from './module.ts';
export { orderStatusWriter, orderStatusWriters } from './reservations/order-status-writers.ts';
export {
  type CaseLine,
  type CaseStock,
  type Deducted,
  type Demand,
  type Inventory,
  type InventoryProvider,
  type InventoryStatus,
  type NotifyNow,
  type PreReserve,
  type Reserved,
  type StockLine,
  type StockSession,
  summedItems,
  type WriteOrderStatus,
} from './reservations/provider.ts';
export { mustKeepStock } from './reservations/provider-fence.ts';
export {
  type InventoryProviderEntry,
  inventoryProviders,
  type OpenedProvider,
  remoteProviderNames,
} from './reservations/provider-registry.ts';
export {
  endRemoteReservations,
  insertRemoteReservations,
  inventoryStatusOf,
  isOrderOpen,
  type OrderStatusRow,
  orderIsWritten,
  reopenRemoteReservations,
  settleRemoteReservations,
  writeRemoteStates,
} from './reservations/remote-ledger.ts';
export type { ReservationRow } from './reservations/reservation-store.ts';
export { inventoryProvider } from './settings.ts';
