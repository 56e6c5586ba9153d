import type { Inventory } from '@tradepost/inventory';
import { coalesce, type Sql } from '@tradepost/runtime';
import { selectOrderNumbers } from './batch-store.ts';

/**
 * After an order was paid or cancelled, where its stock is elsewhere and told at once: waits until the partner knows, or for
 * one call's time. Apart from the batch that wrote the order, so that a partner that hangs holds up only who waits for it.
 */
export function openTeller(sql: Sql, { tellNow }: Pick<Inventory, 'tellNow'>): (orderId: number) => Promise<void> {
  if (!tellNow) return async () => {};
  const tell = coalesce<number, true>(
    async (orderIds) => {
      await tellNow(await selectOrderNumbers(sql, orderIds));
      return orderIds.map(() => true);
    },
    { maxInFlight: 100, patienceMs: 0 },
  );
  return async (orderId) => {
    await tell(orderId);
  };
}
