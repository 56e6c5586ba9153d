import type { Attribute } from '@tradepost/catalog';
import type { Locale, Paging } from '@tradepost/core';
import type { Queryable } from '@tradepost/postgres';
import type { ActivityRow } from '../activity.ts';
import type { ActivityKind, ActivityOptions, ActivityType } from '../activity-kinds.ts';
import { titleContains } from '../title-search.ts';

export type ShownRow = ActivityRow & {
  activity_type: ActivityType;
  activity_name: string;
  activity_status: 0 | 1;
  start_at: Date;
  end_at: Date;
  options: ActivityOptions;
  title: string;
  subtitle: string;
  /** The texts of one language, and its words for specifications. */
  translations: Record<string, { title?: string; subtitle?: string; specs?: Record<string, string> }>;
  cover: string;
  category_id: number;
  attrs: Attribute[];
  origin_price: number;
  stock: number;
  sales: number;
};

export type RowFilter = {
  readonly activity_id: number | null;
  readonly category_id: number | null;
  readonly keyword: string | null;
  /** Minor units, inclusive. */
  readonly min_price: number | null;
  readonly max_price: number | null;
};
export type RowOrder = { readonly by: 'sort' | 'price' | 'sales'; readonly descending: boolean };

/** The columns of a row `r` of the activity `a`, with its product `p`, its SKU `s`, and the sums `t` over the SKUs of the product. */
const columns = (sql: Queryable, locale: Locale) => sql`
  r.id, r.activity_id, r.product_id, r.sku_id, r.activity_price, r.start_price, r.floor_price, r.limit_per_order,
  r.total_stock_limit, r.sold_qty, r.sort, a.type as activity_type, a.name as activity_name, a.status as activity_status,
  a.start_at, a.end_at, a.options, p.title, p.subtitle, p.cover, p.category_id,
  jsonb_build_object(${locale}::text, p.translations -> ${locale}::text #- '{detail}') as translations,
  coalesce(s.attrs, '[]') as attrs, coalesce(s.price, p.price) as origin_price,
  coalesce(s.stock - s.reserved_stock, t.stock)::bigint as stock, t.sales`;

/** The product and the SKU of a row `r`. A row whose product is off the shelf, or whose SKU is not sold, has none. */
const goods = (sql: Queryable) => sql`
  join catalog.product_cards p on p.id = r.product_id and p.status = 1
  left join catalog.sku_cards s on s.id = r.sku_id and s.product_id = r.product_id`;
const isSold = (sql: Queryable) => sql`(r.sku_id = 0 or s.status = 'active')`;

const sums = (sql: Queryable) => sql`
  cross join lateral (
    select coalesce(sum(k.stock - k.reserved_stock) filter (where k.status = 'active'), 0)::bigint as stock,
           coalesce(sum(k.sold), 0)::bigint as sales
    from catalog.sku_cards k where k.product_id = r.product_id) as t`;

/**
 * A page of the rows of the running activity of a kind, and their number, in one statement. Rows that are sold out are left out. One
 * activity runs at a time, so it reads at most `maxActivityProducts` rows.
 */
export async function selectShownRows(
  sql: Queryable,
  { type, prices }: Pick<ActivityKind, 'type' | 'prices'>,
  filter: RowFilter,
  order: RowOrder,
  paging: Paging,
  { now, locale }: { now: Date; locale: Locale },
): Promise<{ rows: ShownRow[]; total: number }> {
  const { activity_id, category_id, keyword, min_price, max_price } = filter;
  const price = prices === 'fixed' ? sql`r.activity_price` : sql`r.start_price`;
  const direction = order.descending ? sql`desc` : sql`asc`;
  const orderBy = {
    sort: sql`r.sort desc, ${price}, r.id`,
    price: sql`${price} ${direction}, r.id`,
    sales: sql`t.sales ${direction}, r.id`,
  }[order.by];
  const found = sql`
    from activities.activities a join activities.activity_products r on r.activity_id = a.id and r.removed_at is null
    ${goods(sql)}
    ${order.by === 'sales' ? sums(sql) : sql``}
    where a.type = ${type} and a.deleted_at is null and a.status = 1 and a.start_at <= ${now} and a.end_at > ${now}
      and (r.total_stock_limit = 0 or r.sold_qty < r.total_stock_limit) and ${isSold(sql)}
      ${activity_id === null ? sql`` : sql`and a.id = ${activity_id}`}
      ${min_price === null ? sql`` : sql`and ${price} >= ${min_price}`}
      ${max_price === null ? sql`` : sql`and ${price} <= ${max_price}`}
      ${keyword === null ? sql`` : sql`and ${titleContains(sql, keyword)}`}
      ${
        category_id === null
          ? sql``
          : sql`and p.category_id = any(array(
              select category_id from catalog.category_branches where ancestor_id = ${category_id}))`
      }`;
  const rows = await sql<(ShownRow & { total: number })[]>`
    with hits as materialized (select r.id, row_number() over (order by ${orderBy}) as place ${found}),
    counted as (select count(*)::int as total from hits),
    page as (select id, place from hits order by place limit ${paging.size} offset ${paging.offset})
    select ${columns(sql, locale)}, counted.total
    from counted left join (
      page join activities.activity_products r using (id) join activities.activities a on a.id = r.activity_id
      ${goods(sql)} ${sums(sql)}) on true
    order by page.place`;
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row) => row.id !== null) };
}

/** A row by its id, in any state of its activity; of these types. Undefined when its product is not on the shelf. */
export async function selectShownRow(
  sql: Queryable,
  id: number,
  types: readonly ActivityType[],
  locale: Locale,
): Promise<ShownRow | undefined> {
  const [row] = await sql<ShownRow[]>`
    select ${columns(sql, locale)}
    from activities.activity_products r
    join activities.activities a on a.id = r.activity_id and a.deleted_at is null and a.type = any(${[...types]}::text[])
    ${goods(sql)} ${sums(sql)}
    where r.id = ${id} and r.removed_at is null and ${isSold(sql)}`;
  return row;
}
