import type { Queryable } from '@tradepost/postgres';
import type { ActivityOptions, ActivityType } from '../activity-kinds.ts';

/** A row of an activity for an attempt, whether or not the activity runs. Prices are in minor units. */
export type Offer = {
  activity_id: number;
  activity_product_id: number;
  activity_name: string;
  product_id: number;
  /** 0: all SKUs of the product. */
  sku_id: number;
  /** 1: the activity is switched on. */
  status: number;
  start_at: Date;
  end_at: Date;
  options: ActivityOptions;
  activity_price: number;
  start_price: number;
  floor_price: number;
  total_stock_limit: number;
  sold_qty: number;
};

/**
 * The row of an activity for a SKU: its own row before that of all SKUs. With `sku_id` 0 the row of all SKUs before the first row of
 * the product. Undefined when the activity has none, or when the product is not on the shelf or has no such SKU. One statement.
 */
export async function selectOffer(
  sql: Queryable,
  type: ActivityType,
  { activity_id, product_id, sku_id }: { activity_id: number; product_id: number; sku_id: number },
): Promise<Offer | undefined> {
  const [row] = await sql<Offer[]>`
    select r.activity_id, r.id as activity_product_id, a.name as activity_name, r.product_id, r.sku_id, a.status, a.start_at, a.end_at,
           a.options, r.activity_price, r.start_price, r.floor_price, r.total_stock_limit, r.sold_qty
    from activities.activity_products r
    join activities.activities a on a.id = r.activity_id and a.type = ${type} and a.deleted_at is null
    join catalog.product_cards p on p.id = r.product_id and p.status = 1
    where r.activity_id = ${activity_id} and r.product_id = ${product_id} and r.removed_at is null
      and (${sku_id}::bigint = 0 or (r.sku_id in (0, ${sku_id}) and exists (
        select from catalog.sku_cards s where s.id = ${sku_id} and s.product_id = r.product_id and s.status = 'active')))
    order by (r.sku_id = ${sku_id}) desc, r.sku_id limit 1`;
  return row;
}
