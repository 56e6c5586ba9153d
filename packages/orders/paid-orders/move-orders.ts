import type { Transaction } from '@tradepost/postgres';
import { factsOf, orderAfterSaleEnded, orderCompleted, recordOrders } from '../order-events.ts';
import { orderStatus, orderTransitions } from '../orders/order-status.ts';
import type { Actor, MovedOrder } from '../orders/order-store.ts';
import { type OrderMove, updateOrderStatuses } from './move-orders-store.ts';

type By = { actor: Actor; now: Date };

const idsOf = (orders: readonly MovedOrder[]): number[] => orders.map(({ id }) => id);

/** One move per order: the first one counts. */
const once = (moves: readonly OrderMove[]): OrderMove[] => [
  ...new Map(moves.toReversed().map((move) => [move.order_id, move])).values(),
];

/** Marks paid orders as having an open after-sale case: 2, 3, 4 -> 5. Returns the ids of the orders that moved. */
export async function markAfterSale(tx: Transaction, orderIds: readonly number[], by: By): Promise<number[]> {
  const trigger = 'after_sale_open';
  const { from, to } = orderTransitions[trigger];
  const moves = orderIds.map((order_id) => ({ order_id, to, trigger }) as const);
  return idsOf(await updateOrderStatuses(tx, once(moves), from, by));
}

/**
 * Ends the after-sale state of orders whose last open case has ended: 5 -> `to`. 6 is for an order that was refunded in full
 * before it was shipped. Returns the ids of the orders that moved.
 */
export async function endAfterSale(
  tx: Transaction,
  rows: readonly { order_id: number; to: 2 | 3 | 4 | 6 }[],
  by: By,
): Promise<number[]> {
  const moves = rows.map(({ order_id, to }): OrderMove => {
    const trigger = to === orderStatus.cancelled ? 'after_sale_refunded' : 'after_sale_end';
    return { order_id, to, trigger };
  });
  const wanted = once(moves);
  const ended = await updateOrderStatuses(tx, wanted, [orderStatus.afterSale], by);
  const statusOf = new Map(wanted.map(({ order_id, to }) => [order_id, to]));
  const facts = ended.map((order) => ({ ...factsOf(order), status: statusOf.get(order.id)! }));
  await Promise.all(recordOrders(tx, orderAfterSaleEnded, facts, by.now));
  return idsOf(ended);
}

/** Completes shipped orders: 3 -> 4. Returns the ids of the orders that moved. */
export async function completeOrders(
  tx: Transaction,
  orderIds: readonly number[],
  trigger: 'reviewed' | 'auto_complete',
  by: By,
): Promise<number[]> {
  const { from, to } = orderTransitions[trigger];
  const moves = orderIds.map((order_id) => ({ order_id, to, trigger }));
  const completed = await updateOrderStatuses(tx, once(moves), from, by);
  const facts = completed.map((order) => ({ ...factsOf(order), trigger }));
  await Promise.all(recordOrders(tx, orderCompleted, facts, by.now));
  return idsOf(completed);
}
