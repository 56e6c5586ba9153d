import type { Inventory } from '@tradepost/inventory';
import { writeTransaction } from '@tradepost/postgres';
import type { PricePipeline } from '@tradepost/pricing';
import type { RecordOutcomes, Runtime } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { factsOf, orderCancelled, orderPaid, recordOrders } from '../order-events.ts';
import { isInstantPaymentOn } from '../payments/providers/instant/instant-payment.ts';
import { payCurrency } from '../settings.ts';
import { type CancelledOrder, type MovedOrder, markCancelled, markPaid, type OwnedOrder } from './order-store.ts';

type Deps = { runtime: Pick<Runtime, 'sql' | 'now'>; inventory: Inventory };
/** `pipeline` releases what cancelled orders use. */
export type CancelDeps = Deps & { pipeline: Pick<PricePipeline, 'release'> };

/** The outcome of each request. When a batch has two requests for one order, the first one succeeds. */
function outcomesOf(
  requests: readonly OwnedOrder[],
  moved: readonly MovedOrder[],
  refuse: () => Error,
): (true | Error)[] {
  const open = new Map(moved.map((order) => [order.id, order]));
  return requests.map((request) => {
    const order = open.get(request.order_id);
    if (!order || (request.user_id !== null && request.user_id !== order.user_id)) return refuse();
    open.delete(order.id);
    return true;
  });
}

const numbersOf = (orders: readonly MovedOrder[]) => orders.map((order) => order.order_no);

/**
 * Pays unpaid orders within the request (provider `instant`): 1 -> 2, stock confirmed, payment recorded. When the setting does not
 * allow it, only orders that cost 0.00 are paid, because no money moves.
 */
export async function payOrders(
  deps: Deps & { runtime: Pick<Runtime, 'settings' | 'config'> },
  requests: readonly OwnedOrder[],
  record?: RecordOutcomes<true>,
): Promise<(true | Error)[]> {
  const { runtime, inventory } = deps;
  const freeOnly = !isInstantPaymentOn(runtime);
  return writeTransaction(runtime.sql, async (tx) => {
    const instant = { currency: runtime.settings.get(payCurrency), freeOnly };
    const values = { inventoryStatus: inventory.statusAfter.confirm, instant, now: runtime.now() };
    const orders = await markPaid(tx, requests, values);
    const outcomes = outcomesOf(requests, orders, freeOnly ? orderErrors.instant_pay_off : orderErrors.cannot_pay);
    if (orders.length === 0) return { value: outcomes, last: [] };
    const confirmed = await inventory.confirm(tx, numbersOf(orders));
    const events = recordOrders(tx, orderPaid, orders.map(factsOf), values.now);
    return { value: outcomes, last: [...confirmed, ...events, ...(record?.(tx, outcomes) ?? [])] };
  });
}

/** The orders that use something of a price step. */
export const usedBy = (orders: readonly CancelledOrder[]) =>
  orders.flatMap(({ price_steps, ...order }) => (price_steps ? [{ ...order, price_steps }] : []));

export type CancelReason = 'user_cancel' | 'timeout' | 'merchant_close';

/**
 * Cancels unpaid orders: 1 -> 6, stock released. After a timeout, or when the merchant closes orders (`by`), `user_id`
 * is null.
 */
export async function cancelOrders(
  deps: CancelDeps,
  requests: readonly OwnedOrder[],
  reason: CancelReason,
  record?: RecordOutcomes<true>,
  by?: { staff_id: number; note: string },
): Promise<(true | Error)[]> {
  const { runtime, inventory } = deps;
  return writeTransaction(runtime.sql, async (tx) => {
    const now = runtime.now();
    const orders = await markCancelled(tx, requests, {
      inventoryStatus: inventory.statusAfter.release,
      trigger: reason,
      actor: by ? { type: 'admin', id: by.staff_id } : { type: reason === 'timeout' ? 'system' : 'user', id: 0 },
      note: by?.note ?? '',
      now,
    });
    const outcomes = outcomesOf(requests, orders, orderErrors.cannot_cancel);
    if (orders.length === 0) return { value: outcomes, last: [] };
    const released = await inventory.release(tx, numbersOf(orders), reason);
    const usesReleased = deps.pipeline.release(tx, usedBy(orders), now);
    const facts = orders.map((order) => ({ ...factsOf(order), reason }));
    const events = recordOrders(tx, orderCancelled, facts, now);
    return { value: outcomes, last: [...released, ...usesReleased, ...events, ...(record?.(tx, outcomes) ?? [])] };
  });
}
