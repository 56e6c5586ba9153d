import type { Attribute } from '@tradepost/catalog';
import type { Locale, Paging } from '@tradepost/core';
import { plannedByValue, type Queryable, type Transaction } from '@tradepost/postgres';
import type { ActivityRow } from '../activity.ts';
import type { ActivityType } from '../activity-kinds.ts';
import { titleContains } from '../title-search.ts';

export type AdminRow = ActivityRow & {
  activity_name: string;
  title: string;
  cover: string;
  product_price: number;
  attrs: Attribute[];
  /** The words of one language for specifications. */
  translations: Record<string, { specs?: Record<string, string> }>;
  sku_price: number;
  stock: number;
};
export type AdminRowFilter = { activity_id: number | null; product_id: number | null; keyword: string | null };

/**
 * A page of the rows of all activities of a type and their number: the newest activity first, then as the storefront shows them.
 * Rows of deleted products are in it, without a title.
 */
export async function selectAdminRows(
  sql: Queryable,
  type: ActivityType,
  filter: AdminRowFilter,
  paging: Paging,
  locale: Locale,
): Promise<{ rows: AdminRow[]; total: number }> {
  const { activity_id, product_id, keyword } = filter;
  const found = sql`
    from activities.activity_products r
    join activities.activities a on a.id = r.activity_id and a.type = ${type} and a.deleted_at is null
    ${keyword === null ? sql`` : sql`join catalog.product_cards p on p.id = r.product_id and ${titleContains(sql, keyword)}`}
    where r.removed_at is null
      ${activity_id === null ? sql`` : sql`and r.activity_id = ${activity_id}`}
      ${product_id === null ? sql`` : sql`and r.product_id = ${product_id}`}`;
  const rows = await plannedByValue(sql<(AdminRow & { total: number })[]>`
    with counted as (select count(*)::int as total ${found}),
    page as (
      select r.id, row_number() over () as place from (
        select r.id ${found} order by r.activity_id desc, r.sort desc, r.id limit ${paging.size} offset ${paging.offset}) as r)
    select r.id, r.activity_id, r.product_id, r.sku_id, r.activity_price, r.start_price, r.floor_price, r.limit_per_order,
      r.total_stock_limit, r.sold_qty, r.sort, a.name as activity_name,
      coalesce(nullif(p.translations #>> ${[locale, 'title']}::text[], ''), p.title, '') as title,
      coalesce(p.cover, '') as cover, coalesce(p.price, 0) as product_price, coalesce(s.attrs, '[]') as attrs,
      jsonb_build_object(${locale}::text, p.translations -> ${locale}::text #- '{detail}') as translations,
      coalesce(s.price, p.price, 0) as sku_price,
      coalesce(s.stock - s.reserved_stock,
        (select sum(k.stock - k.reserved_stock) from catalog.sku_cards k where k.product_id = r.product_id and k.status = 'active'),
        0)::bigint as stock,
      counted.total
    from counted left join (
      page join activities.activity_products r using (id) join activities.activities a on a.id = r.activity_id
      left join catalog.product_cards p on p.id = r.product_id
      left join catalog.sku_cards s on s.id = r.sku_id) on true
    order by page.place`);
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row) => row.id !== null) };
}

export type StoredRow = Pick<ActivityRow, 'id' | 'product_id' | 'sku_id' | 'activity_price' | 'sold_qty'> & {
  is_removed: boolean;
};

/** Locks all rows of an activity, also removed ones, in id order. */
export async function lockRows(tx: Transaction, activityId: number): Promise<StoredRow[]> {
  return tx<StoredRow[]>`
    select id, product_id, sku_id, activity_price, sold_qty, removed_at is not null as is_removed
    from activities.activity_products
    where activity_id = ${activityId} order by id for no key update`;
}

export type NewRow = Omit<ActivityRow, 'id' | 'activity_id' | 'sold_qty'>;

/** The first of these rows whose product does not exist or does not have the SKU. */
export async function selectUnknownGoods(
  tx: Transaction,
  rows: readonly Pick<NewRow, 'product_id' | 'sku_id'>[],
): Promise<Pick<NewRow, 'product_id' | 'sku_id'> | undefined> {
  const [row] = await tx<Pick<NewRow, 'product_id' | 'sku_id'>[]>`
    select w.product_id, w.sku_id
    from unnest(${rows.map((row) => row.product_id)}::bigint[], ${rows.map((row) => row.sku_id)}::bigint[])
      with ordinality as w (product_id, sku_id, n)
    where not exists (select from catalog.product_cards p where p.id = w.product_id)
       or (w.sku_id > 0 and not exists (
         select from catalog.sku_cards s where s.id = w.sku_id and s.product_id = w.product_id and s.status = 'active'))
    order by w.n limit 1`;
  return row;
}

/** Writes the rows of an activity. A row that was there, or was removed, keeps its id and what was sold. */
export async function upsertRows(
  tx: Transaction,
  activityId: number,
  rows: readonly NewRow[],
  now: Date,
): Promise<void> {
  await tx`
    insert into activities.activity_products as r (activity_id, product_id, sku_id, activity_price, start_price, floor_price,
      limit_per_order, total_stock_limit, sort, created_at, updated_at)
    select ${activityId}, n.product_id, n.sku_id, n.activity_price, n.start_price, n.floor_price, n.limit_per_order,
      n.total_stock_limit, n.sort, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as n (product_id bigint, sku_id bigint, activity_price bigint,
      start_price bigint, floor_price bigint, limit_per_order int, total_stock_limit int, sort int)
    on conflict (activity_id, product_id, sku_id) do update
    set activity_price = excluded.activity_price, start_price = excluded.start_price, floor_price = excluded.floor_price,
        limit_per_order = excluded.limit_per_order, total_stock_limit = excluded.total_stock_limit, sort = excluded.sort,
        updated_at = excluded.updated_at, removed_at = null`;
}

/** Takes rows out of their activity. */
export async function removeRows(tx: Transaction, ids: readonly number[], now: Date): Promise<void> {
  await tx`
    update activities.activity_products set removed_at = ${now}, updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and removed_at is null`;
}
