import { orderStatus } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { EventReader, OutboxEvent, Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { type CaseReturn, lockUsedRows, returnCases, returnUses } from './use-store.ts';

const refundedCase = z.object({
  order_id: z.number(),
  case_id: z.number(),
  items: z.array(z.object({ activity_product_id: z.number(), qty: z.number() })),
});
const endedAfterSale = z.object({ order_id: z.number(), status: z.number() });
/** The pieces that refunded cases return, summed per case and row. */
function returnsIn(events: readonly OutboxEvent[]): CaseReturn[] {
  const returns = new Map<string, CaseReturn>();
  for (const { data } of events) {
    const { order_id, case_id, items } = refundedCase.parse(data);
    for (const { activity_product_id, qty } of items) {
      if (activity_product_id === 0) continue;
      const key = `${case_id}/${activity_product_id}`;
      const sum = qty + (returns.get(key)?.qty ?? 0);
      returns.set(key, { order_id, case_id, activity_product_id, qty: sum });
    }
  }
  return [...returns.values()];
}

/** Returns what refunded orders have taken: the lines of a refunded case, or everything that is left of a refunded order. */
export const refundReader = ({ now }: Pick<Runtime, 'now'>): EventReader => ({
  name: 'activities',
  kinds: ['after_sale.refunded', 'order.after_sale_ended'],
  async read(tx: Transaction, events) {
    const returns = returnsIn(events.filter(({ name }) => name === 'after_sale.refunded'));
    const ended = events.flatMap(({ name, data }) => {
      if (name !== 'order.after_sale_ended') return [];
      const { order_id, status } = endedAfterSale.parse(data);
      return status === orderStatus.cancelled ? [order_id] : [];
    });
    if (returns.length === 0 && ended.length === 0) return;
    await lockUsedRows(tx, [...new Set([...returns.map(({ order_id }) => order_id), ...ended])]);
    if (returns.length > 0) await returnCases(tx, returns, now());
    if (ended.length > 0) await returnUses(tx, ended);
  },
});
