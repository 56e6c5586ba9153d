import type { Queryable } from '@tradepost/postgres';

export type FirstShipment = { company: string; tracking_no: string };

/** The first shipments of these orders, by order. An order that was never shipped is absent. */
export async function selectFirstShipments(
  sql: Queryable,
  orderIds: readonly number[],
): Promise<ReadonlyMap<number, FirstShipment>> {
  if (orderIds.length === 0) return new Map();
  const rows = await sql<(FirstShipment & { order_id: number })[]>`
    select order_id, company, tracking_no from fulfilment.shipments
    where order_id = any(${[...orderIds]}::bigint[]) and biz_type = 'initial'`;
  return new Map(rows.map(({ order_id, ...shipment }) => [order_id, shipment]));
}
