import type { StockOwner } from '@tradepost/catalog';
import { ownStock } from '@tradepost/catalog';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { openIntents } from '../external-wms/external-provider.ts';
import type { NewTask } from '../external-wms/tasks/task.ts';
import { selectProvider } from '../provider-migration/migration-store.ts';
import { externalMode, inventoryProvider, type ProviderName } from '../settings.ts';
import { mustKeepStock } from './provider-fence.ts';

/** Each announcement is one of its own: the partner would take a second one under a known number for a repeat. */
const announcement = (sku_id: number, stock: number, number: string): NewTask => {
  const of = { biz_type: 'sku', biz_no: `${sku_id}-${number}` };
  return { ...of, action: 'sync_sku', sequence_key: `sku:${sku_id}`, payload: { ...of, sku_id, stock } };
};

/** Who keeps the stock that the catalogue shows and edits, by the provider in force. */
export function stockOwnerOf(
  runtime: Pick<Runtime, 'settings' | 'now'>,
  name: ProviderName,
  sellable: StockOwner['sellable'] = null,
): StockOwner {
  if (name === 'builtin_wms') return { ...ownStock, editable: false };
  const onSkus = (tx: Transaction) => mustKeepStock(tx, 'on SKUs');
  if (name === 'local') return { ...ownStock, announce: (tx) => [onSkus(tx)] };
  // Nobody waits for the partner here, whatever the mode of orders.
  const intents = openIntents({ runtime, mode: runtime.settings.get(externalMode) });
  return {
    editable: true,
    announce(tx, skus) {
      const number = `${runtime.now().getTime()}${Math.random().toString(36).slice(2, 8)}`;
      const tasks = skus.map(({ sku_id, stock }) => announcement(sku_id, stock, number));
      return [onSkus(tx), ...intents(tx, tasks, { restMs: 0 })];
    },
    sellable,
  };
}

/** For a command beside the shop: by the provider that the books are in, whatever is set for the next start. */
export async function openStockOwner(runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>): Promise<StockOwner> {
  const inForce = await selectProvider(runtime.sql);
  return stockOwnerOf(runtime, inForce ?? runtime.settings.get(inventoryProvider));
}
