import type { Inventory } from '@tradepost/inventory';
import type { Runtime } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { selectOrderStatuses } from './batch-store.ts';
import { type OrderStatus, orderStatus } from './order.ts';
import { cancelOrders } from './settle-orders.ts';

/** Why an order in this state cannot be closed: money that came in is returned by an after-sale, not by closing. */
const refusals: Record<OrderStatus, () => Error> = {
  // Another request paid or cancelled it after the update, and before its status was read.
  [orderStatus.pendingPayment]: orderErrors.cannot_cancel,
  [orderStatus.paid]: orderErrors.cannot_close_paid,
  [orderStatus.shipped]: orderErrors.cannot_close_paid,
  [orderStatus.completed]: orderErrors.cannot_close_completed,
  [orderStatus.afterSale]: orderErrors.cannot_close_paid,
  [orderStatus.cancelled]: orderErrors.already_cancelled,
};

/** The merchant gives up unpaid orders: 1 -> 6, stock released. Answers per order true or why not. */
export async function closeOrders(
  deps: { runtime: Pick<Runtime, 'sql' | 'now'>; inventory: Inventory },
  orderIds: readonly number[],
  by: { staff_id: number; note: string },
): Promise<(true | Error)[]> {
  const closed = await cancelOrders(
    deps,
    orderIds.map((order_id) => ({ order_id, user_id: null })),
    'merchant_close',
    undefined,
    by,
  );
  const left = orderIds.filter((_, index) => closed[index] !== true);
  const statuses = await selectOrderStatuses(deps.runtime.sql, left);
  return orderIds.map((id, index) => {
    if (closed[index] === true) return true;
    const status = statuses.get(id);
    return status ? refusals[status]() : orderErrors.order_not_found();
  });
}
