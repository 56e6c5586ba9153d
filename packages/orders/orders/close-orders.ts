import { orderErrors } from '../errors.ts';
import { selectOrderStatuses } from './batch-store.ts';
import { type OrderStatus, orderStatus } from './order-status.ts';
import { type CancelDeps, cancelOrders } from './settle-orders.ts';

/** The refusal for an order in this state. A paid order is not closed: an after-sale refunds it. */
const refusals: Record<OrderStatus, () => Error> = {
  // The order was committed after the update and before its status was read.
  [orderStatus.pendingPayment]: orderErrors.cannot_cancel,
  [orderStatus.paid]: orderErrors.cannot_close_paid,
  [orderStatus.shipped]: orderErrors.cannot_close_paid,
  [orderStatus.completed]: orderErrors.cannot_close_completed,
  [orderStatus.afterSale]: orderErrors.cannot_close_paid,
  [orderStatus.cancelled]: orderErrors.already_cancelled,
};

/** Closes unpaid orders for the merchant: 1 -> 6, stock released. Returns for each order true or its refusal. */
export async function closeOrders(
  deps: CancelDeps,
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
  const open = orderIds.filter((_, index) => closed[index] !== true);
  const statuses = await selectOrderStatuses(deps.runtime.sql, open);
  return orderIds.map((id, index) => {
    if (closed[index] === true) return true;
    const status = statuses.get(id);
    return status ? refusals[status]() : orderErrors.order_not_found();
  });
}
