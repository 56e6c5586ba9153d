export { type Delivery, openDelivery } from './external-wms/open-external.ts';
export { type Ping, pingWarehouse } from './external-wms/ping-warehouse.ts';
export { externalMetrics } from './external-wms/protocol/external-metrics.ts';
export { externalSignature, signatureFits } from './external-wms/protocol/signature.ts';
export type { Delivered } from './external-wms/tasks/deliver-tasks.ts';
export { failTasks, type Managed, retryTasks } from './external-wms/tasks/manage-tasks.ts';
export { type TaskAction, type TaskStatus, taskActions, taskStatuses } from './external-wms/tasks/task.ts';
export {
  countTasks,
  selectTask,
  selectTasks,
  type TaskFilter,
  type TaskRow,
} from './external-wms/tasks/task-list-store.ts';
export {
  selectCallbacks,
  selectSomeSkus,
  selectTaskCounts,
  selectTaskEffects,
  type TaskCounts,
  type TaskEffect,
} from './external-wms/tasks/task-report-store.ts';
export { inventoryModule, inventoryService, orderStatusWriters } from './module.ts';
export type { Demand, Inventory, InventoryStatus, StockHold, WriteOrderStatus } from './reservations/provider.ts';
export { openStockOwner } from './reservations/stock-owner.ts';
export {
  externalAppKey,
  externalAppSecret,
  externalMode,
  inventoryProvider,
  missingSettings,
  settingCommand,
  signatureTtl,
} from './settings.ts';
