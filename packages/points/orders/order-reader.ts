import {
  type OrderWithLines,
  orderStatus,
  type Refundable,
  selectOrderLines,
  selectRefundable,
} from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { EventReader, OutboxEvent, Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { lockAccounts, selectBalances } from '../ledger/ledger-store.ts';
import { pointsType } from '../ledger/points-log.ts';
import { writePoints } from '../ledger/write-points.ts';
import { enableOrderPoints, orderPointsRate, rateScale } from '../settings.ts';
import { pointsFor, shareOf } from './exchange-rate.ts';
import {
  addReturnedGoods,
  insertEarned,
  lowerEarned,
  type OrderPoints,
  returnPoints,
  selectOrderPoints,
} from './order-points-store.ts';

type Deps = Pick<Runtime, 'settings' | 'now'>;

/** The facts of the events that this reader needs. The packages of the events have the rest. */
const orderFacts = z.object({ order_id: z.number(), user_id: z.number() });
const endFacts = orderFacts.extend({ status: z.number() });
const caseFacts = orderFacts.extend({
  case_id: z.number(),
  items: z.array(z.object({ order_item_id: z.number(), qty: z.number() })).default([]),
});
/** Whether completed orders earn, and how many points for 10,000 minor units. */
function rateOf({ settings }: Deps): number {
  return settings.get(enableOrderPoints) ? Math.round(settings.get(orderPointsRate) * rateScale) : 0;
}

/** Credits completed orders with their points, once per order: the paid amount less refunds, at the rate of now. */
async function earnPoints(
  tx: Transaction,
  events: readonly OutboxEvent[],
  { rate, now }: { rate: number; now: Date },
): Promise<void> {
  if (rate === 0 || events.length === 0) return;
  const facts = events.map(({ data }) => orderFacts.parse(data));
  const orders = [...new Map(facts.map((of) => [of.order_id, of])).values()];
  const money = await selectRefundable(
    tx,
    orders.map(({ order_id }) => order_id),
  );
  const rows = orders
    .map(({ order_id, user_id }) => {
      const { paid, refunded } = money.get(order_id)!;
      return { order_id, user_id, earned: pointsFor(Math.max(0, paid - refunded), rate), earn_rate: rate };
    })
    .filter(({ earned }) => earned > 0);
  if (rows.length === 0) return;
  const written = await insertEarned(tx, rows);
  const entries = rows
    .filter(({ order_id }) => written.has(order_id))
    .map(({ order_id, user_id, earned }) => ({
      ...{ user_id, points: earned, type: pointsType.orderCompleted, related_id: order_id, remark: '' },
      key: `order:${order_id}:earned`,
    }));
  // An account that is full gets nothing.
  await writePoints(tx, entries, now);
}

/** The goods amounts that these cases returned, by order and case. */
function goodsOf(orders: readonly OrderWithLines[], events: readonly OutboxEvent[]) {
  const byOrder = new Map(orders.map((order) => [order.id, order]));
  const goods = new Map<number, Record<string, number>>();
  for (const { data } of events) {
    const { order_id, case_id, items } = caseFacts.parse(data);
    const lines = new Map(byOrder.get(order_id)?.items.map((line) => [line.id, line]));
    const amount = items.reduce((sum, { order_item_id, qty }) => sum + (lines.get(order_item_id)?.price ?? 0) * qty, 0);
    goods.set(order_id, { ...goods.get(order_id), [case_id]: amount });
  }
  return goods;
}

/** The points that an order shall have returned in all, after refunds of money or, when it cost 0.00, of goods. */
function returnedTotal({ used }: OrderPoints, { paid, refunded }: Refundable, goods: { of: number; returned: number }) {
  return paid > 0
    ? shareOf(used, Math.min(refunded, paid), paid)
    : shareOf(used, Math.min(goods.returned, goods.of), goods.of);
}

/**
 * Returns the points of refunded orders in proportion to the refunded money, and takes back what they earned. Both are calculated
 * from the sums of all refunds, so a repeat changes nothing and no rounding is left when all is refunded.
 */
async function followRefunds(tx: Transaction, events: readonly OutboxEvent[], now: Date): Promise<void> {
  const ids = [...new Set(events.map(({ data }) => orderFacts.parse(data).order_id))];
  const orders = ids.length > 0 ? await selectOrderPoints(tx, ids) : [];
  if (orders.length === 0) return;
  const known = orders.map(({ order_id }) => order_id);
  const [money, lines, balances] = await Promise.all([
    selectRefundable(tx, known),
    selectOrderLines(tx, known),
    selectBalances(
      tx,
      orders.map(({ user_id }) => user_id),
    ),
  ]);
  const free = new Set(known.filter((id) => money.get(id)!.paid === 0));
  const cases = events.filter(
    ({ name, data }) => name === 'after_sale.refunded' && free.has(orderFacts.parse(data).order_id),
  );
  const returned = goodsOf(lines, cases);
  const goodsAmount = new Map(
    lines.map(({ id, items }) => [id, items.reduce((sum, line) => sum + line.price * line.qty, 0)]),
  );
  const targets = orders.map((order) => {
    const goods = Object.values({ ...order.returned_goods, ...returned.get(order.order_id) });
    const sum = goods.reduce((total, amount) => total + amount, 0);
    const of = goodsAmount.get(order.order_id) ?? 0;
    return { order, total: returnedTotal(order, money.get(order.order_id)!, { of, returned: sum }) };
  });
  if (returned.size > 0)
    await addReturnedGoods(
      tx,
      Array.from(returned, ([order_id, goods]) => ({ order_id, goods })),
    );
  await returnPoints(
    tx,
    targets.map(({ order, total }) => ({ order_id: order.order_id, total })),
    now,
  );
  for (const { order, total } of targets) {
    const more = Math.max(0, total - order.returned);
    balances.set(order.user_id, (balances.get(order.user_id) ?? 0) + more);
  }
  await takeBack(tx, orders, money, balances, now);
}

/** Takes back what refunded orders do not deserve any more: at most the balance. What the balance does not cover is let go. */
async function takeBack(
  tx: Transaction,
  orders: readonly OrderPoints[],
  money: ReadonlyMap<number, Refundable>,
  balances: Map<number, number>,
  now: Date,
): Promise<void> {
  const lowered = orders.flatMap(({ order_id, user_id, earned, earn_rate }) => {
    const { paid, refunded } = money.get(order_id)!;
    const target = pointsFor(Math.max(0, paid - refunded), earn_rate ?? 0);
    return earned !== null && target < earned ? [{ order_id, user_id, earned: target, less: earned - target }] : [];
  });
  if (lowered.length === 0) return;
  await lowerEarned(tx, lowered);
  const entries = lowered.flatMap(({ order_id, user_id, earned, less }) => {
    const balance = balances.get(user_id) ?? 0;
    const points = Math.min(less, balance);
    balances.set(user_id, balance - points);
    const entry = { user_id, points: -points, type: pointsType.orderCompleted, related_id: order_id, remark: '' };
    return points > 0 ? [{ ...entry, key: `order:${order_id}:earned:${earned}` }] : [];
  });
  await writePoints(tx, entries, now);
}

const refunds = ['after_sale.refunded', 'order.refunded'];
const endings = ['order.cancelled', 'order.after_sale_ended'];
const isCancelled = ({ name, data }: OutboxEvent) =>
  name === 'order.cancelled' ||
  (name === 'order.after_sale_ended' && endFacts.parse(data).status === orderStatus.cancelled);

/** Locks all accounts that the events can change, in one statement: in the order of their ids. */
async function lockConcerned(
  tx: Transaction,
  completed: readonly OutboxEvent[],
  others: readonly OutboxEvent[],
): Promise<OrderPoints[]> {
  const ids = others.map(({ data }) => orderFacts.parse(data).order_id);
  const known = ids.length > 0 ? await selectOrderPoints(tx, [...new Set(ids)]) : [];
  const users = [...completed.map(({ data }) => orderFacts.parse(data).user_id), ...known.map((of) => of.user_id)];
  if (users.length > 0) await lockAccounts(tx, users);
  return known;
}

/** Earns, returns and takes back the points of orders. */
export const orderReader = (deps: Deps): EventReader => ({
  name: 'points.orders',
  kinds: ['order.completed', ...refunds, ...endings],
  async read(tx, events) {
    const now = deps.now();
    const rate = rateOf(deps);
    const completed = rate > 0 ? events.filter(({ name }) => name === 'order.completed') : [];
    const refunded = events.filter(({ name }) => refunds.includes(name));
    const ended = events.filter(isCancelled);
    const known = await lockConcerned(tx, completed, [...refunded, ...ended]);
    await earnPoints(tx, completed, { rate, now });
    await followRefunds(tx, refunded, now);
    const over = new Set(ended.map(({ data }) => orderFacts.parse(data).order_id));
    const targets = known.filter(({ order_id, used }) => used > 0 && over.has(order_id));
    // What is left of the points of cancelled orders.
    if (targets.length > 0)
      await returnPoints(
        tx,
        targets.map(({ order_id }) => ({ order_id, total: null })),
        now,
      );
  },
});
