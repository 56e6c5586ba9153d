import type { InventoryProviderEntry } from '@tradepost/inventory';
import { mustKeepStock } from '@tradepost/inventory';
import { defineService } from '@tradepost/module';
import { documentTasks } from './document-tasks.ts';
import { openTaskWriter, preReserveRefusals } from './external-provider.ts';
import { checkExternal, type External, openExternal } from './open-external.ts';
import { externalMode, providerName } from './settings.ts';
import type { NewTask } from './tasks/task.ts';

/** The provider that inventory opened. The module of this package runs its routes and jobs. */
export const externalWarehouse = defineService<External>('external-wms.warehouse');

/** `number` gives each announcement its own request id. The partner would ignore a second announcement with the same id. */
const announcement = (sku_id: number, stock: number, number: string): NewTask => {
  const of = { biz_type: 'sku', biz_no: `${sku_id}-${number}` };
  return { ...of, action: 'sync_sku', sequence_key: `sku:${sku_id}`, payload: { ...of, sku_id, stock } };
};

/** The entry of this provider. The catalogue edits the stock column of SKUs, and tasks announce each change to the partner. */
export const externalEntry: InventoryProviderEntry = {
  name: providerName,
  aliases: ['external'],
  capabilities: { holdsLocally: false, mirrorsWarehouses: false },
  readAtStart: [externalMode],
  check: checkExternal,
  stockOwner(runtime) {
    const writeTasks = openTaskWriter({ runtime, mode: runtime.settings.get(externalMode) });
    return {
      editable: true,
      announce(tx, skus) {
        const number = `${runtime.now().getTime()}${Math.random().toString(36).slice(2, 8)}`;
        const tasks = skus.map(({ sku_id, stock }) => announcement(sku_id, stock, number));
        // The task is due at once in both modes, because no caller waits for the partner here.
        return [mustKeepStock(tx, 'on SKUs'), ...writeTasks(tx, tasks, { delayMs: 0 })];
      },
    };
  },
  open({ runtime, writeOrderStatus }) {
    const external = openExternal(runtime, writeOrderStatus);
    const { provider, preReserve, notifyNow, sellable, writeTasks, close } = external;
    return {
      ...{ operations: provider, preReserve, preReserveRefusals, notifyNow, sellable, close },
      completed: (tx, docs) => writeTasks(tx, documentTasks(docs), { delayMs: 0 }),
      provides: [externalWarehouse.provide(external)],
    };
  },
};
