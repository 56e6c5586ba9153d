import { type HeldOrder, heldRefusal, markShipped, selectHeldOrders, selectOrderStatuses } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Write } from '@tradepost/runtime';
import { shipmentErrors } from './errors.ts';
import { completeParcel, type Parcel, parcelRefusal } from './parcel.ts';
import { type RecordDeps, recordShipments } from './record-shipments.ts';

export type ShipOrder = Parcel & { readonly order_id: number };

/**
 * Ships paid orders for the first time: 2 -> 3, and one shipment per order, in a fixed number of statements. An order that is held
 * (`shippingHolds` of orders) is refused, when it could be shipped otherwise. When a request
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
  // The result may be stored as JSON, for a repeat of the request.
  const done = complete.length > 0 ? await write((tx) => ship(tx, deps, complete, staffId)) : { moved: [], held: [] };
  const moved = new Set(done.moved);
  const held = new Map(done.held.map(({ order_id, refusal }) => [order_id, refusal]));
  const refused = orders.filter((order, index) => refusals[index] || !moved.has(order.order_id));
  const existing = await selectOrderStatuses(sql, [...new Set(refused.map((order) => order.order_id))]);
  return orders.map((order, index) => {
    const refusal = refusals[index];
    if (!refusal && moved.has(order.order_id)) return true;
    if (!existing.has(order.order_id)) return shipmentErrors.order_not_found();
    return refusal ?? heldRefusal(deps.holds, held.get(order.order_id)) ?? shipmentErrors.cannot_ship();
  });
}

/** Ships the orders that can be shipped. Returns their ids, and the orders that are held. Each order occurs once. */
async function ship(
  tx: Transaction,
  deps: RecordDeps,
  orders: readonly ShipOrder[],
  staff_id: number,
): Promise<{ moved: number[]; held: HeldOrder[] }> {
  const held = await selectHeldOrders(
    tx,
    deps.holds,
    orders.map(({ order_id }) => order_id),
  );
  const isHeld = new Set(held.map(({ order_id }) => order_id));
  const free = orders.filter(({ order_id }) => !isHeld.has(order_id));
  const shipped = await markShipped(tx, free, {
    actor: { type: 'admin', id: staff_id },
    now: deps.runtime.now(),
  });
  const ids = new Set(shipped.map(({ id }) => id));
  const parcels = free.filter(({ order_id }) => ids.has(order_id)).map((order) => ({ ...order, case_id: 0 }));
  await recordShipments(tx, deps, parcels, { biz_type: 'initial', shipped, staff_id });
  return { moved: [...ids], held };
}
