export { externalWmsModule } from './module.ts';
export { type Delivery, openDelivery } from './open-external.ts';
export { type Ping, pingWarehouse } from './ping-warehouse.ts';
export { type TaskAction, taskActions } from './protocol/actions.ts';
export { externalMetrics } from './protocol/external-metrics.ts';
export { externalSignature, signatureFits } from './protocol/signature.ts';
export {
  externalAppKey,
  externalAppSecret,
  externalMode,
  missingSettings,
  providerName,
  settingCommand,
  signatureTtl,
} from './settings.ts';
export type { Delivered } from './tasks/deliver-tasks.ts';
export { failTasks, type Managed, retryTasks } from './tasks/manage-tasks.ts';
export { type TaskStatus, taskStatuses } from './tasks/task.ts';
export { countTasks, selectTask, selectTasks, type TaskFilter, type TaskRow } from './tasks/task-list-store.ts';
export {
  selectCallbacks,
  selectSomeSkus,
  selectTaskCounts,
  selectTaskEffects,
  type TaskCounts,
  type TaskEffect,
} from './tasks/task-report-store.ts';
