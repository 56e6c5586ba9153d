import type { Locale, Paging } from '@tradepost/core';
import type { Queryable, Sql } from '@tradepost/postgres';
import type { CardProduct } from './product.ts';
import { hasKeyword, keywordRank, staffHits } from './product-search.ts';
import { totals } from './product-store.ts';

/** The columns of a card: translations in the reader's language only, and only the page content that is shown. */
const cardColumns = (sql: Queryable, locale: Locale) => sql`
  p.id, p.merchant_id, p.category_id, p.title, p.subtitle, p.cover, p.price, p.origin_price, p.status, p.sort,
  coalesce(p.translations #> ${[locale, 'detail']}::text[], p.detail) as detail,
  jsonb_build_object(${locale}::text, p.translations -> ${locale}::text #- '{detail}') as translations,
  p.favorite_count, p.created_at, p.updated_at`;

/** A row of the back office: its title in the reader's language, without page content. */
const rowColumns = (sql: Queryable, locale: Locale) => sql`
  p.id, p.category_id, coalesce(nullif(p.translations #>> ${[locale, 'title']}::text[], ''), p.title) as title,
  p.cover, p.price, p.status, p.favorite_count, p.created_at`;
export type ProductRow = Pick<
  CardProduct,
  'id' | 'category_id' | 'title' | 'cover' | 'price' | 'status' | 'favorite_count' | 'created_at' | 'sellable' | 'sales'
>;

type Listed<T> = { rows: T[]; total: number };
const listed = <T extends { id: number | null; total: number }>(rows: readonly T[]): Listed<T> => ({
  total: rows[0]?.total ?? 0,
  // A page without products still has one row, which has the total.
  rows: rows.filter((row) => row.id !== null),
});

/** `category_id` means the category and all categories below it. */
export type ShelfFilter = { keyword?: string | undefined; category_id?: number | undefined };

/** The condition that products `p` are in the category or below it. */
const inBranch = (sql: Queryable, categoryId: number) => sql`
  p.category_id = any(array(
    select category_id from catalog.category_descendants where ancestor_id = ${categoryId}))`;

/** The ids of the first `rows` products on the shelf, in the order of the list. */
const firstOnShelf = (sql: Queryable, rows: number) => sql`
  select p.id, p.sort from catalog.products p where p.status = 1 order by p.sort desc, p.id desc limit ${rows}`;

/**
 * The same for a category with its descendants: the first rows of each category by index, then the first of all these.
 */
const firstInBranch = (sql: Queryable, categoryId: number, rows: number) => sql`
  select one.id, one.sort from catalog.category_descendants d
  cross join lateral (
    select p.id, p.sort from catalog.products p where p.category_id = d.category_id and p.status = 1
    order by p.sort desc, p.id desc limit ${rows}) as one
  where d.ancestor_id = ${categoryId}
  order by one.sort desc, one.id desc limit ${rows}`;

/**
 * The ids of one page with their position, and the total, as two CTEs. The hits of a keyword are found and ranked once.
 */
export function shelfPage(sql: Sql, filter: ShelfFilter, paging: Paging) {
  const { keyword, category_id } = filter;
  const { size, offset } = paging;
  if (keyword === undefined) {
    const last = offset + size;
    const first = category_id === undefined ? firstOnShelf(sql, last) : firstInBranch(sql, category_id, last);
    const counted =
      category_id === undefined
        ? sql`catalog.products p`
        : sql`catalog.category_descendants d join catalog.products p
              on d.ancestor_id = ${category_id} and p.category_id = d.category_id`;
    return sql`
      page as (select id, row_number() over () as place from (${first}) as ids offset ${offset}),
      counted as (select count(*)::int as total from ${counted} where p.status = 1)`;
  }
  const inCategory = category_id === undefined ? sql`` : sql`and ${inBranch(sql, category_id)}`;
  return sql`
    hits as materialized (
      select p.id, p.sort, ${keywordRank(sql, keyword)} as rank
      from catalog.products p where p.status = 1 and ${hasKeyword(sql, keyword)} ${inCategory}),
    page as (
      select id, row_number() over () as place from (
        select id from hits order by rank desc, sort desc, id desc limit ${size} offset ${offset}) as ids),
    counted as (select count(*)::int as total from hits)`;
}

/**
 * One page of the shelf and the total in one statement. The page is chosen first; then the SKUs of its few products are
 * summed.
 */
export async function selectShelf(
  sql: Sql,
  filter: ShelfFilter,
  paging: Paging,
  locale: Locale,
): Promise<Listed<CardProduct>> {
  const rows = await sql<(CardProduct & { total: number })[]>`
    with ${shelfPage(sql, filter, paging)}
    select ${cardColumns(sql, locale)}, t.sellable, t.sales, counted.total
    from counted left join (page join catalog.products p using (id) ${totals(sql)}) on true
    order by page.place`;
  return listed(rows);
}

export type ProductFilter = ShelfFilter & {
  status?: number | undefined;
  /** The largest number of sellable pieces. */
  sellable_max?: number | undefined;
};
export type ProductOrder = 'sort' | 'sales' | 'stock' | 'price_asc' | 'price_desc' | 'created';

/** One page of all products and the total in one statement. */
export async function selectProductRows(
  sql: Sql,
  filter: ProductFilter,
  paging: Paging,
  locale: Locale,
  order: ProductOrder = 'sort',
): Promise<Listed<ProductRow>> {
  const { keyword, status, category_id, sellable_max } = filter;
  // Filters and orders by sums over SKUs need the sums of all products.
  const needsTotals = sellable_max !== undefined || order === 'sales' || order === 'stock';
  const from = sql`
    from ${keyword === undefined ? sql`catalog.products p` : sql`${staffHits(sql, keyword)} join catalog.products p using (id)`}
    ${needsTotals ? totals(sql) : sql``}
    where p.deleted_at is null
      ${status === undefined ? sql`` : sql`and p.status = ${status}`}
      ${category_id === undefined ? sql`` : sql`and ${inBranch(sql, category_id)}`}
      ${sellable_max === undefined ? sql`` : sql`and t.sellable <= ${sellable_max}`}`;
  const orderBy = {
    sort:
      keyword === undefined
        ? sql`p.sort desc, p.id desc`
        : sql`hit.named desc, ${keywordRank(sql, keyword)} desc, p.sort desc, p.id desc`,
    sales: sql`t.sales desc, p.id desc`,
    stock: sql`t.sellable desc, p.id desc`,
    price_asc: sql`p.price, p.id desc`,
    price_desc: sql`p.price desc, p.id desc`,
    created: sql`p.id desc`,
  }[order];
  const rows = await sql<(ProductRow & { total: number })[]>`
    with page as (
      select id, row_number() over () as place
      from (select p.id ${from} order by ${orderBy} limit ${paging.size} offset ${paging.offset}) as ids),
    counted as (select count(*)::int as total ${from})
    select ${rowColumns(sql, locale)}, t.sellable, t.sales, counted.total
    from counted left join (page join catalog.products p using (id) ${totals(sql)}) on true
    order by page.place`;
  return listed(rows);
}

/** The number of best sellers of the last refresh that are compared by their present sales. */
const candidates = 200;

export async function selectBestSellers(sql: Sql, limit: number, locale: Locale): Promise<CardProduct[]> {
  return sql<CardProduct[]>`
    with best as (
      select id from catalog.products where status = 1 order by sales_seen desc, sort desc, id desc limit ${candidates})
    select ${cardColumns(sql, locale)}, t.sellable, t.sales
    from best join catalog.products p using (id) ${totals(sql)}
    order by t.sales desc, p.sort desc, p.id desc limit ${limit}`;
}

/**
 * Updates `sales_seen`. Products with unchanged sales are not written. Locked products are skipped and not waited for.
 */
export async function refreshSales(sql: Sql): Promise<number> {
  const rows = await sql`
    with sold as (
      select product_id, sum(sold)::bigint as sales from catalog.product_skus group by product_id
    ), moved as materialized (
      select p.id, sold.sales from catalog.products p join sold on sold.product_id = p.id
      where p.sales_seen <> sold.sales
      order by p.id for no key update of p skip locked
    )
    update catalog.products p set sales_seen = moved.sales from moved where p.id = moved.id returning p.id`;
  return rows.length;
}

/** The favourites of a shopper, newest first, including products that are off the shelf now. */
export async function selectFavorites(
  sql: Sql,
  userId: number,
  paging: Paging,
  locale: Locale,
): Promise<Listed<CardProduct & { favorited_at: Date }>> {
  const rows = await sql<(CardProduct & { favorited_at: Date; total: number })[]>`
    with page as (
      select product_id as id, created_at as favorited_at from catalog.favorites where user_id = ${userId}
      order by created_at desc, product_id desc limit ${paging.size} offset ${paging.offset}
    ), counted as (select count(*)::int as total from catalog.favorites where user_id = ${userId})
    select ${cardColumns(sql, locale)}, page.favorited_at, t.sellable, t.sales, counted.total
    from counted left join (page join catalog.products p using (id) ${totals(sql)}) on true
    order by page.favorited_at desc, p.id desc`;
  return listed(rows);
}
