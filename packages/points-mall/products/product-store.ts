import type { Paging } from '@tradepost/core';
import { plannedByValue, type Queryable, type Transaction } from '@tradepost/postgres';
import { maxProducts } from '../limits.ts';
import type { Product, ProductFields, ProductType } from './product.ts';

const columns = (sql: Queryable) => sql`
  id, title, type, points_price, stock_limit, sold_count, cover, images, description, status, sort, limit_per_user,
  limit_per_day, coupon_id, need_address, virtual_content, created_at, updated_at`;

export type ProductFilter = { readonly type: ProductType | null; readonly status: 0 | 1 | null };

/** A page of the products by sort, the newest first. */
export async function selectProducts(
  sql: Queryable,
  { type, status }: ProductFilter,
  paging: Paging,
): Promise<{ rows: Product[]; total: number }> {
  const matching = sql`
    from points_mall.products where true ${type === null ? sql`` : sql`and type = ${type}`}
      ${status === null ? sql`` : sql`and status = ${status}`}`;
  const rows = await plannedByValue(sql<(Product & { counted: number })[]>`
    with counted as (select count(*)::int as counted ${matching}),
    page as (select ${columns(sql)} ${matching} order by sort desc, id desc limit ${paging.size} offset ${paging.offset})
    select page.*, counted.counted from counted left join page on true order by page.sort desc, page.id desc`);
  return {
    rows: rows.filter(({ id }) => id !== null).map(({ counted: _counted, ...row }) => row),
    total: rows[0]?.counted ?? 0,
  };
}

export async function selectProduct(sql: Queryable, id: number): Promise<Product | undefined> {
  const [row] = await sql<Product[]>`select ${columns(sql)} from points_mall.products where id = ${id}`;
  return row;
}

/** Locks these products in id order, for exchanges and edits. */
export const lockProducts = (tx: Transaction, ids: readonly number[]) => tx<Product[]>`
  select ${columns(tx)} from points_mall.products where id = any(${[...ids]}::bigint[]) order by id for no key update`;

/** Adds products. Undefined when the mall would have more than it may have. Two statements. */
export async function insertProducts(
  tx: Transaction,
  products: readonly ProductFields[],
  now: Date,
): Promise<Product[] | undefined> {
  // Other transactions that add products wait here, so that the count is exact. Exchanges do not wait.
  await tx`select pg_advisory_xact_lock(hashtextextended('points_mall.products', 0))`;
  const rows = await tx<Product[]>`
    insert into points_mall.products (title, type, points_price, stock_limit, cover, images, description, status, sort,
      limit_per_user, limit_per_day, coupon_id, need_address, virtual_content, created_at, updated_at)
    select p.*, ${now}::timestamptz, ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(products)}::text::json) as p (title text, type text, points_price bigint,
      stock_limit bigint, cover text, images jsonb, description text, status smallint, sort integer, limit_per_user integer,
      limit_per_day integer, coupon_id bigint, need_address boolean, virtual_content text)
    where (select count(*) from points_mall.products) + ${products.length} <= ${maxProducts}
    returning ${columns(tx)}`;
  return rows.length === products.length ? rows : undefined;
}

/** Writes the fields of locked products. */
export async function updateProducts(
  tx: Transaction,
  products: readonly (ProductFields & { id: number })[],
  now: Date,
): Promise<void> {
  await tx`
    update points_mall.products p
    set title = c.title, type = c.type, points_price = c.points_price, stock_limit = c.stock_limit, cover = c.cover,
        images = c.images, description = c.description, status = c.status, sort = c.sort, limit_per_user = c.limit_per_user,
        limit_per_day = c.limit_per_day, coupon_id = c.coupon_id, need_address = c.need_address,
        virtual_content = c.virtual_content, updated_at = ${now}
    from json_to_recordset(${JSON.stringify(products)}::text::json) as c (id bigint, title text, type text, points_price bigint,
      stock_limit bigint, cover text, images jsonb, description text, status smallint, sort integer, limit_per_user integer,
      limit_per_day integer, coupon_id bigint, need_address boolean, virtual_content text)
    where p.id = c.id`;
}

/** Puts products on the shelf or takes them off. Returns the ids that exist. */
export async function updateStatus(
  tx: Transaction,
  ids: readonly number[],
  status: 0 | 1,
  now: Date,
): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update points_mall.products set status = ${status}, updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) returning id`;
  return rows.map(({ id }) => id);
}

/** The number of open exchanges of these locked products. */
export async function countOpenExchanges(tx: Transaction, ids: readonly number[]): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from points_mall.exchanges
    where product_id = any(${[...ids]}::bigint[]) and status in ('pending_ship', 'shipped')`;
  return row!.count;
}

export async function deleteProducts(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx`delete from points_mall.products where id = any(${[...ids]}::bigint[])`;
}

/** Adds these quantities to the products, which are locked. A quantity is negative when an exchange is cancelled. */
export const addSold = (tx: Transaction, sold: readonly { product_id: number; qty: number }[]) => tx`
  update points_mall.products p set sold_count = p.sold_count + s.qty
  from (
    select product_id, sum(qty) as qty
    from json_to_recordset(${JSON.stringify(sold)}::text::json) as x (product_id bigint, qty bigint) group by product_id) as s
  where p.id = s.product_id`;

export async function countProducts(sql: Queryable): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from points_mall.products`;
  return row!.count;
}
