import { lockShoppers } from '@tradepost/identity';
import { selectRefundable } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { EventReader, OutboxEvent, Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { ensureAssets, lockAssets } from '../memberships/asset-store.ts';
import { type NewGrowth, selectGrowthOf, writeGrowth } from './growth-store.ts';

/**
 * An event that changes the growth of a shopper. `change` says how: `paid` minor units give growth, `refunded` minor units take a
 * part of it back, and `cancelled` takes back all that is left of the growth of the order.
 */
type GrowthEvent = Pick<NewGrowth, 'user_id' | 'order_id' | 'event_type' | 'remark' | 'source'> & {
  change: { readonly paid: number } | { readonly refunded: number } | 'cancelled';
  created_at: Date;
};

const order = z.object({ user_id: z.number(), order_id: z.number(), order_no: z.string() });
const paid = order.extend({ total_amount: z.number() });
const refunded = order.extend({ case_id: z.number(), case_no: z.string(), refund_amount: z.number() });

/** Growth is in whole currency units. */
const floored = (minor: number) => Math.floor(minor / 100);

/** What each kind of event does to the growth. The key is the name of the event. */
const readers: Readonly<Record<string, (event: OutboxEvent) => GrowthEvent>> = {
  'order.paid'({ data, occurred_at }) {
    const { user_id, order_id, order_no, total_amount } = paid.parse(data);
    return {
      ...{ user_id, order_id, event_type: 'order_paid', change: { paid: total_amount }, remark: order_no },
      ...{ source: `order.paid:${order_id}`, created_at: occurred_at },
    };
  },
  'after_sale.refunded'({ data, occurred_at }) {
    const { user_id, order_id, case_id, case_no, refund_amount } = refunded.parse(data);
    return {
      ...{ user_id, order_id, event_type: 'order_refund', change: { refunded: refund_amount }, remark: case_no },
      ...{ source: `after_sale.refunded:${case_id}`, created_at: occurred_at },
    };
  },
  // A paid order that is cancelled, such as one of a failed group. An unpaid order gave nothing.
  'order.cancelled'({ data, occurred_at }) {
    const { user_id, order_id, order_no } = order.parse(data);
    return {
      ...{ user_id, order_id, event_type: 'order_refund', change: 'cancelled', remark: order_no },
      ...{ source: `order.cancelled:${order_id}`, created_at: occurred_at },
    };
  },
};

type Known = Awaited<ReturnType<typeof selectGrowthOf>>;
/** What an order gave and lost, and the minor units that were refunded before the next of its events. */
type OrderGrowth = { given: number; taken: number; refunded: number };

/** The growth of these orders before the events. `refunded` of the orders has the refunds of the events too. */
function openOrders(events: readonly GrowthEvent[], known: Known, refunded: ReadonlyMap<number, number>) {
  const orders = new Map<number, OrderGrowth>();
  for (const { order_id } of events)
    orders.set(order_id, { given: 0, taken: 0, refunded: refunded.get(order_id) ?? 0 });
  for (const { order_id, growth_delta } of known) {
    const order = orders.get(order_id);
    if (order && growth_delta > 0) order.given += growth_delta;
    if (order && growth_delta < 0) order.taken -= growth_delta;
  }
  for (const { order_id, change } of events) {
    const order = orders.get(order_id)!;
    if (typeof change === 'object' && 'refunded' in change)
      order.refunded = Math.max(0, order.refunded - change.refunded);
  }
  return orders;
}

/**
 * What the event changes. Refunds are followed by their total: many refunds of less than 1.00 take back as much as one. So an order
 * that is refunded in full keeps no growth.
 */
function deltaOf({ change }: GrowthEvent, order: OrderGrowth): number {
  if (change === 'cancelled') return -Math.max(0, order.given - order.taken);
  if ('paid' in change) return floored(change.paid);
  order.refunded += change.refunded;
  return -Math.max(0, floored(order.refunded) - order.taken);
}

/** Applies new events one after the other. A growth is at least 0. */
function growthRows(
  events: readonly GrowthEvent[],
  balances: Map<number, number>,
  orders: ReadonlyMap<number, OrderGrowth>,
): NewGrowth[] {
  return events.flatMap((event): NewGrowth[] => {
    const { change: _change, ...row } = event;
    const order = orders.get(event.order_id)!;
    const before = balances.get(event.user_id);
    const wanted = deltaOf(event, order);
    if (before === undefined || wanted === 0) return [];
    const balance_after = Math.max(0, before + wanted);
    const growth_delta = balance_after - before;
    balances.set(event.user_id, balance_after);
    if (growth_delta > 0) order.given += growth_delta;
    else order.taken -= growth_delta;
    return [{ ...row, growth_delta, balance_after }];
  });
}

/** The first event of each source that the log does not have. */
function newEvents(events: readonly GrowthEvent[], known: Known): GrowthEvent[] {
  const seen = new Set(known.map((row) => row.source));
  return events.filter(({ source }) => !seen.has(source) && seen.add(source));
}

async function recordGrowth(tx: Transaction, events: readonly OutboxEvent[], now: Date): Promise<void> {
  const all = events.flatMap((event) => readers[event.name]?.(event) ?? []);
  if (all.length === 0) return;
  const existing = await lockShoppers(tx, [...new Set(all.map(({ user_id }) => user_id))]);
  const wanted = all.filter(({ user_id }) => existing.has(user_id));
  const userIds = [...new Set(wanted.map(({ user_id }) => user_id))];
  if (userIds.length === 0) return;
  await ensureAssets(tx, userIds, now);
  const assets = await lockAssets(tx, userIds);
  const losing = [
    ...new Set(wanted.flatMap(({ order_id, event_type }) => (event_type === 'order_refund' ? order_id : []))),
  ];
  const known = await selectGrowthOf(tx, { sources: wanted.map(({ source }) => source), orderIds: losing });
  const money = losing.length > 0 ? await selectRefundable(tx, losing) : new Map<number, { refunded: number }>();
  const fresh = newEvents(wanted, known);
  const refunded = new Map([...money].map(([order_id, of]) => [order_id, of.refunded]));
  const balances = new Map([...assets].map(([user_id, { growth_value }]) => [user_id, growth_value]));
  const rows = growthRows(fresh, balances, openOrders(fresh, known, refunded));
  if (rows.length > 0) await writeGrowth(tx, rows, now);
}

/** Growth of all shoppers, members or not: for a payment, and less for a refund. */
export const growthReader = ({ now }: Pick<Runtime, 'now'>): EventReader => ({
  name: 'vip.growth',
  kinds: Object.keys(readers),
  read: (tx, events) => recordGrowth(tx, events, now()),
});
