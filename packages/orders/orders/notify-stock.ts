import type { Inventory } from '@tradepost/inventory';
import { groupCommit } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { selectOrderNumbers } from './batch-store.ts';

/**
 * Returns a function that notifies the external warehouse of a paid or cancelled order and waits for it, at most for the time
 * of one call. It does nothing when notifications are not sent at once. It runs after the batch that wrote the order, so a
 * slow warehouse delays only the shopper who waits for it.
 */
export function openStockNotifier(
  { sql, log }: Pick<Runtime, 'sql' | 'log'>,
  { notifyNow }: Pick<Inventory, 'notifyNow'>,
): (orderId: number) => Promise<void> {
  if (!notifyNow) return async () => {};
  const notify = groupCommit<number, true>(
    async (orderIds) => {
      await notifyNow(await selectOrderNumbers(sql, orderIds));
      return orderIds.map(() => true);
    },
    // A batch is as large as the number of concurrent calls to the warehouse, so no order waits for a second round of calls.
    { maxBatch: 32, maxInFlight: 100, patienceMs: 0 },
  );
  return async (orderId) => {
    // The order is committed. When this notification fails, a worker sends it later.
    await notify(orderId).catch((error: unknown) =>
      log.warn(
        { err: error, order_id: orderId },
        'the external warehouse was not notified at once; a worker will retry',
      ),
    );
  };
}
