import { markShipped, selectOrderStatuses } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Write } from '@tradepost/runtime';
import { shipmentErrors } from './errors.ts';
import { completeParcel, type Parcel, parcelRefusal } from './parcel.ts';
import { type RecordDeps, recordShipments } from './record-shipments.ts';

export type ShipOrder = Parcel & { readonly order_id: number };

/**
 * Ships paid orders for the first time: 2 -> 3, and one shipment per order, in a fixed number of statements. When a request
 * is refused, one more statement checks which orders exist: an unknown order gets the refusal `order_not_found`, whatever
 * else is wrong. When two requests name one order, the first one counts. Returns for each request true or its refusal.
 */
export async function shipOrders(
  deps: RecordDeps,
  requests: readonly ShipOrder[],
  staffId: number,
  write: Write,
): Promise<(true | Error)[]> {
  const { sql, settings } = deps.runtime;
  const first = new Map(requests.map((order, index) => [order.order_id, index] as const).reverse());
  const orders = requests.map((order) => completeParcel(order, settings));
  const refusals = orders.map((order, index) =>
    first.get(order.order_id) === index ? parcelRefusal(order, settings) : shipmentErrors.shipped_twice(),
  );
  const complete = orders.filter((_, index) => !refusals[index]);
  const moved = new Set(complete.length > 0 ? await write((tx) => ship(tx, deps, complete, staffId)) : []);
  const refused = orders.filter((order, index) => refusals[index] || !moved.has(order.order_id));
  const existing = await selectOrderStatuses(sql, [...new Set(refused.map((order) => order.order_id))]);
  return orders.map((order, index) => {
    const refusal = refusals[index];
    if (!refusal && moved.has(order.order_id)) return true;
    if (!existing.has(order.order_id)) return shipmentErrors.order_not_found();
    return refusal ?? shipmentErrors.cannot_ship();
  });
}

/** Ships the orders that can be shipped, and returns their ids. Each order occurs once. */
async function ship(
  tx: Transaction,
  deps: RecordDeps,
  orders: readonly ShipOrder[],
  staff_id: number,
): Promise<number[]> {
  const shipped = await markShipped(tx, orders, {
    actor: { type: 'admin', id: staff_id },
    now: deps.runtime.now(),
  });
  const ids = new Set(shipped.map(({ id }) => id));
  const parcels = orders.filter(({ order_id }) => ids.has(order_id)).map((order) => ({ ...order, case_id: 0 }));
  await recordShipments(tx, deps, parcels, { biz_type: 'initial', shipped, staff_id });
  return [...ids];
}
