import type { Queryable } from '@tradepost/postgres';
import type { ActivityType } from '../activity-kinds.ts';

/** What decides whether a line gets the price of an activity. Prices are in minor units. */
export type LineFacts = {
  readonly id: number;
  readonly activity_id: number;
  readonly type: ActivityType;
  readonly name: string;
  readonly status: 0 | 1;
  readonly start_at: Date;
  readonly end_at: Date;
  readonly product_id: number;
  readonly sku_id: number;
  readonly activity_price: number;
  readonly start_price: number;
  readonly limit_per_order: number;
  readonly total_stock_limit: number;
  /** Grows as orders of a batch take pieces. */
  sold_qty: number;
};

/** Rows of these types by id. With `lock` they are locked in id order until the end of the transaction. */
export async function selectLineFacts(
  sql: Queryable,
  ids: readonly number[],
  { types, lock }: { types: readonly ActivityType[]; lock: boolean },
): Promise<Map<number, LineFacts>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<LineFacts[]>`
    select r.id, r.activity_id, a.type, a.name, a.status, a.start_at, a.end_at, r.product_id, r.sku_id, r.activity_price,
      r.start_price, r.limit_per_order, r.total_stock_limit, r.sold_qty
    from activities.activity_products r join activities.activities a on a.id = r.activity_id
    where r.id = any(${[...ids]}::bigint[]) and r.removed_at is null and a.deleted_at is null
      and a.type = any(${[...types]}::text[])
    order by r.id ${lock ? sql`for no key update of r` : sql``}`;
  return new Map(rows.map((row) => [row.id, row]));
}
