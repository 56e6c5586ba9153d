import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Shipment } from './shipment.ts';

export type NewShipment = Pick<
  Shipment,
  | 'order_id'
  | 'after_sale_case_id'
  | 'delivery_type'
  | 'direction'
  | 'biz_type'
  | 'company'
  | 'tracking_no'
  | 'rider_name'
  | 'rider_phone'
  | 'logistics_status'
  | 'remark'
  | 'created_by_type'
  | 'created_by_id'
>;

/** Inserts shipments. Each was shipped at `now`, except those that are still pending. Returns their ids, in the same order. */
export async function insertShipments(tx: Transaction, rows: readonly NewShipment[], now: Date): Promise<number[]> {
  const inserted = await tx<{ id: number }[]>`
    insert into fulfilment.shipments (order_id, after_sale_case_id, delivery_type, direction, biz_type, company, tracking_no,
      rider_name, rider_phone, logistics_status, remark, shipped_at, created_by_type, created_by_id, created_at, updated_at)
    select order_id, after_sale_case_id, delivery_type, direction, biz_type, company, tracking_no, rider_name, rider_phone,
      logistics_status, remark, case when logistics_status <> 'pending' then ${now}::timestamptz end, created_by_type,
      created_by_id, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as s (order_id bigint, after_sale_case_id bigint,
      delivery_type text, direction text, biz_type text, company text, tracking_no text, rider_name text, rider_phone text,
      logistics_status text, remark text, created_by_type text, created_by_id bigint)
    returning id`;
  return inserted.map(({ id }) => id);
}

const shipmentColumns = (sql: Queryable) => sql`
  id, order_id, after_sale_case_id, delivery_type, direction, biz_type, company, tracking_no, rider_name, rider_phone,
  channel_provider, logistics_status, last_query_at, last_sync_ok_at, sync_fail_count, remark, shipped_at, signed_at,
  created_by_type, created_by_id, created_at, updated_at`;

/** The shipments of these orders, newest first: at most `max` per order, with the first shipment among them. */
export async function selectShipments(sql: Queryable, orderIds: readonly number[], max: number): Promise<Shipment[]> {
  return sql<Shipment[]>`
    with ranked as (
      select *, row_number() over (partition by order_id order by (biz_type = 'initial') desc, id desc) as rank
      from fulfilment.shipments where order_id = any(${[...orderIds]}::bigint[])
    )
    select ${shipmentColumns(sql)} from ranked where rank <= ${max} order by order_id, id desc`;
}

/** The shipments of these after-sale cases, newest first. */
export async function selectCaseShipments(sql: Queryable, caseIds: readonly number[]): Promise<Shipment[]> {
  return sql<Shipment[]>`
    select ${shipmentColumns(sql)} from fulfilment.shipments
    where after_sale_case_id > 0 and after_sale_case_id = any(${[...caseIds]}::bigint[])
    order by after_sale_case_id, id desc`;
}

/** The orders with an outbound shipment of this carrier, each once, newest first: a relation with the column order_id. */
export const shippedWith = (sql: Queryable, company: string): Statement =>
  sql`
    (select distinct order_id from fulfilment.shipments where company = ${company} and direction = 'outbound'
     order by order_id desc)`;
