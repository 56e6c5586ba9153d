import type { Inventory } from '@tradepost/inventory';
import { groupCommit } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { selectOrderNumbers } from './batch-store.ts';

/**
 * After an order was paid or cancelled, where its stock is elsewhere and told at once: waits until the partner knows, or for
 * one call's time. Apart from the batch that wrote the order, so that a partner that hangs holds up only who waits for it.
 */
export function openTeller(
  { sql, log }: Pick<Runtime, 'sql' | 'log'>,
  { notifyNow }: Pick<Inventory, 'notifyNow'>,
): (orderId: number) => Promise<void> {
  if (!notifyNow) return async () => {};
  const tell = groupCommit<number, true>(
    async (orderIds) => {
      await notifyNow(await selectOrderNumbers(sql, orderIds));
      return orderIds.map(() => true);
    },
    // No more than are called at once, so that nobody waits for a second round.
    { maxBatch: 32, maxInFlight: 100, patienceMs: 0 },
  );
  return async (orderId) => {
    // What is written is written: a worker tells the partner.
    await tell(orderId).catch((error: unknown) =>
      log.warn({ err: error, order_id: orderId }, 'the stock could not be told at once'),
    );
  };
}
