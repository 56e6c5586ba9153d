import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Shipment } from './shipment.ts';

export type NewShipment = Pick<
  Shipment,
  'order_id' | 'delivery_type' | 'company' | 'tracking_no' | 'rider_name' | 'rider_phone' | 'remark' | 'created_by_id'
>;

/** Inserts the first shipments of these orders, shipped at `now`. */
export async function insertInitialShipments(tx: Transaction, rows: readonly NewShipment[], now: Date): Promise<void> {
  await tx`
    insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, company, tracking_no, rider_name,
      rider_phone, remark, logistics_status, shipped_at, created_by_type, created_by_id, created_at, updated_at)
    select order_id, delivery_type, 'outbound', 'initial', company, tracking_no, rider_name, rider_phone, remark, 'shipped',
      ${now}, 'admin', created_by_id, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as s (order_id bigint, delivery_type text, company text,
      tracking_no text, rider_name text, rider_phone text, remark text, created_by_id bigint)`;
}

/** The shipments of these orders, newest first. */
export async function selectShipments(sql: Queryable, orderIds: readonly number[]): Promise<Shipment[]> {
  return sql<Shipment[]>`
    select id, order_id, after_sale_case_id, delivery_type, direction, biz_type, company, tracking_no, rider_name, rider_phone,
      channel_provider, logistics_status, last_query_at, last_sync_ok_at, sync_fail_count, remark, shipped_at, signed_at,
      created_by_type, created_by_id, created_at, updated_at
    from fulfilment.shipments where order_id = any(${[...orderIds]}::bigint[]) order by order_id, id desc`;
}

/** The orders that have a shipment of this carrier, each once, newest first: a relation with the column order_id. */
export const shippedWith = (sql: Queryable, company: string): Statement =>
  sql`(select distinct order_id from fulfilment.shipments where company = ${company} order by order_id desc)`;
