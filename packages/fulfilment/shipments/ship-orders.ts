import { markShipped, selectOrderStatuses } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime, Write } from '@tradepost/runtime';
import { shipmentErrors } from './errors.ts';
import { completeParcel, type Parcel, parcelRefusal } from './parcel.ts';
import { insertShipments } from './shipment-store.ts';

export type ShipOrder = Parcel & { readonly order_id: number };

/**
 * Ships paid orders for the first time: 2 -> 3, and one shipment per order, in two statements. When a request is
 * refused, a third statement checks which orders exist: an unknown order gets the refusal `order_not_found`, whatever
 * else is wrong. When two requests name one order, the first one counts. Returns for each request true or its refusal.
 */
export async function shipOrders(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>,
  requests: readonly ShipOrder[],
  staffId: number,
  write: Write,
): Promise<(true | Error)[]> {
  const { settings } = runtime;
  const first = new Map(requests.map((order, index) => [order.order_id, index] as const).reverse());
  const orders = requests.map((order) => completeParcel(order, settings));
  const refusals = orders.map((order, index) =>
    first.get(order.order_id) === index ? parcelRefusal(order, settings) : shipmentErrors.shipped_twice(),
  );
  const complete = orders.filter((_, index) => !refusals[index]);
  const moved = new Set(complete.length > 0 ? await write((tx) => ship(tx, complete, staffId, runtime.now())) : []);
  const refused = orders.filter((order, index) => refusals[index] || !moved.has(order.order_id));
  const existing = await selectOrderStatuses(runtime.sql, [...new Set(refused.map((order) => order.order_id))]);
  return orders.map((order, index) => {
    const refusal = refusals[index];
    if (!refusal && moved.has(order.order_id)) return true;
    if (!existing.has(order.order_id)) return shipmentErrors.order_not_found();
    return refusal ?? shipmentErrors.cannot_ship();
  });
}

/** Writes the shipments of orders that can be shipped, and returns the ids of these orders. Each order occurs once. */
async function ship(tx: Transaction, orders: readonly ShipOrder[], staffId: number, now: Date): Promise<number[]> {
  const moved = await markShipped(tx, orders, { actor: { type: 'admin', id: staffId }, now });
  const ids = new Set(moved.map(({ id }) => id));
  const shipments = orders
    .filter(({ order_id }) => ids.has(order_id))
    .map((order) => ({
      ...order,
      after_sale_case_id: 0,
      direction: 'outbound' as const,
      biz_type: 'initial' as const,
      logistics_status: 'shipped' as const,
      created_by_type: 'admin' as const,
      created_by_id: staffId,
    }));
  if (shipments.length > 0) await insertShipments(tx, shipments, now);
  return [...ids];
}
