import { markShipped, selectOrderStatuses } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime, Write } from '@tradepost/runtime';
import { shipmentErrors } from './errors.ts';
import { insertShipments } from './shipment-store.ts';

export type ShipOrder = {
  order_id: number;
  ship_type: 'initial' | 'reship';
  after_sale_case_id: number;
  delivery_type: 'express' | 'local';
  company: string;
  tracking_no: string;
  rider_name: string;
  rider_phone: string;
  remark: string;
};

/** The refusal of an incomplete request; null when the request is complete. */
function shipmentRefusal(order: ShipOrder): Error | null {
  if (order.ship_type === 'reship')
    // After-sales are not implemented, so no case can belong to this order.
    return order.after_sale_case_id > 0 ? shipmentErrors.case_mismatch() : shipmentErrors.reship_needs_case();
  if (order.delivery_type === 'express') {
    if (!order.company) return shipmentErrors.company_required();
    if (!order.tracking_no) return shipmentErrors.tracking_no_required();
    return null;
  }
  if (!order.rider_name) return shipmentErrors.rider_name_required();
  if (!order.rider_phone) return shipmentErrors.rider_phone_required();
  return null;
}

/**
 * Ships paid orders for the first time: 2 -> 3, and one shipment per order, in two statements. When a request is
 * refused, a third statement checks which orders exist: an unknown order gets the refusal `order_not_found`, whatever
 * else is wrong. When two requests name one order, the first one counts. Returns for each request true or its refusal.
 */
export async function shipOrders(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  requests: readonly ShipOrder[],
  staffId: number,
  write: Write,
): Promise<(true | Error)[]> {
  const first = new Map(requests.map((order, index) => [order.order_id, index] as const).reverse());
  const refusals = requests.map((order, index) =>
    first.get(order.order_id) === index ? shipmentRefusal(order) : shipmentErrors.shipped_twice(),
  );
  const complete = requests
    .filter((_, index) => !refusals[index])
    .map((order) => ({ ...order, company: order.company.toUpperCase() }));
  const moved = new Set(complete.length > 0 ? await write((tx) => ship(tx, complete, staffId, runtime.now())) : []);
  const refused = requests.filter((order, index) => refusals[index] || !moved.has(order.order_id));
  const existing = await selectOrderStatuses(runtime.sql, [...new Set(refused.map((order) => order.order_id))]);
  return requests.map((order, index) => {
    const refusal = refusals[index];
    if (!refusal && moved.has(order.order_id)) return true;
    if (!existing.has(order.order_id)) return shipmentErrors.order_not_found();
    return refusal ?? shipmentErrors.cannot_ship();
  });
}

/** Writes the shipments of orders that can be shipped, and returns their ids. Each order occurs once. */
async function ship(
  tx: Transaction,
  orders: readonly ShipOrder[],
  staffId: number,
  now: Date,
): Promise<readonly number[]> {
  const moved = await markShipped(tx, orders, { actor: { type: 'admin', id: staffId }, now });
  const shipped = orders.filter((order) => moved.includes(order.order_id));
  if (shipped.length > 0)
    await insertShipments(
      tx,
      shipped.map((order) => ({
        ...order,
        direction: 'outbound',
        biz_type: order.ship_type,
        logistics_status: 'shipped',
        created_by_type: 'admin',
        created_by_id: staffId,
      })),
      now,
    );
  return moved;
}
