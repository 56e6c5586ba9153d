import type { Transaction } from '@tradepost/postgres';
import { orderStatus } from '../orders/order-status.ts';
import type { ShippedOrder } from '../orders/order-store.ts';

/** The states in which an order can get another shipment. */
const reshippable = [orderStatus.shipped, orderStatus.completed, orderStatus.afterSale];

/**
 * Writes the tracking number of another shipment of these orders. The status stays. An empty number, of a local delivery,
 * keeps the number of the shipment before. Returns the orders that are in a state with shipments.
 */
export async function setTrackingNumbers(
  tx: Transaction,
  rows: readonly { order_id: number; tracking_no: string }[],
  now: Date,
): Promise<ShippedOrder[]> {
  return tx<ShippedOrder[]>`
    with locked as materialized (
      select o.id, r.tracking_no from orders.orders o
      join unnest(${rows.map((r) => r.order_id)}::bigint[], ${rows.map((r) => r.tracking_no)}::text[])
        as r (order_id, tracking_no) on o.id = r.order_id
      where o.status = any(${reshippable}::smallint[]) order by o.id for no key update of o
    )
    update orders.orders o set tracking_no = coalesce(nullif(locked.tracking_no, ''), o.tracking_no), updated_at = ${now}
    from locked where o.id = locked.id
    returning o.id, o.order_no, o.user_id, coalesce(o.address_snapshot ->> 'phone', '') as phone`;
}
