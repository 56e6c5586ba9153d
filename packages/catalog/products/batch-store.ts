import type { Transaction } from '@tradepost/postgres';

/** Locks the existing products of `ids` in id order. Returns their ids. */
export async function lockProductIds(tx: Transaction, ids: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from catalog.products where id = any(${[...ids]}::bigint[]) and deleted_at is null
    order by id for no key update`;
  return rows.map((row) => row.id);
}

/**
 * Locks the SKUs of (locked) products in id order, as orders do. Returns the products with stock reserved for orders.
 */
export async function lockSkusOf(tx: Transaction, productIds: readonly number[]): Promise<Set<number>> {
  const rows = await tx<{ product_id: number }[]>`
    -- materialized: otherwise the condition is checked before the lock, on earlier values
    with locked as materialized (
      select product_id, reserved_stock from catalog.product_skus where product_id = any(${[...productIds]}::bigint[])
      order by id for no key update)
    select distinct product_id from locked where reserved_stock > 0`;
  return new Set(rows.map((row) => row.product_id));
}

/**
 * Sets the status of locked products. Products without a price are not put on sale. Returns the ids that have the
 * status now.
 */
export async function setStatus(tx: Transaction, ids: readonly number[], status: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update catalog.products p set status = ${status}, updated_at = now()
    where p.id = any(${[...ids]}::bigint[])
      and (${status}::int = 0 or (p.price > 0 and not exists (
        select from catalog.product_skus s where s.product_id = p.id and s.status = 'active' and s.price = 0)))
    returning p.id`;
  return rows.map((row) => row.id);
}

export async function setCategory(tx: Transaction, ids: readonly number[], categoryId: number): Promise<void> {
  await tx`
    update catalog.products set category_id = ${categoryId}, updated_at = now() where id = any(${[...ids]}::bigint[])`;
}

/** A change of prices. `value` is a decimal text, so that it is exactly the number that the client sent. */
export type Adjustment = { type: 'set' | 'percent' | 'amount'; value: string };
export type Scope = 'all' | 'product' | 'sku';

export type PriceOutcome = 'done' | 'too_large' | 'missing';

/**
 * Changes prices of locked products in minor units, rounded half away from zero, never below 0. Returns the outcome of
 * each product. A product stays unchanged when one of its prices would exceed `max`, or when it is on sale and a price
 * would be 0. The default SKU has the price of the product and changes with it.
 */
export async function adjustPrices(
  tx: Transaction,
  ids: readonly number[],
  { type, value }: Adjustment,
  scope: Scope,
  max: number,
): Promise<Map<number, PriceOutcome>> {
  const adjusted = {
    set: () => tx`greatest(0, round(${value}::numeric * 100))`,
    amount: () => tx`greatest(0, price + round(${value}::numeric * 100))`,
    percent: () => tx`greatest(0, round(price * (100 + ${value}::numeric) * 0.01))`,
  }[type];
  const rows = await tx<{ id: number; outcome: PriceOutcome }[]>`
    with goods as materialized (
      select id, status, spec_schema = '[]' as is_plain, ${adjusted()} as price
      from catalog.products where id = any(${[...ids]}::bigint[])
    ), products as (
      select id, price from goods where ${scope !== 'sku'}::boolean or is_plain
    ), skus as materialized (
      select id, product_id, status, ${adjusted()} as price from catalog.product_skus
      where product_id = any(${[...ids]}::bigint[]) and (${scope !== 'product'}::boolean or sku_key = '__default__')
    ), above_max as (
      select id from products where price > ${max}
      union
      select product_id from skus where price > ${max}
    ), free as (
      select id from products where price = 0
      union
      select product_id from skus where price = 0 and status = 'active'
    ), decided as materialized (
      select id, case when id in (select id from above_max) then 'too_large'
                      when status = 1 and id in (select id from free) then 'missing' else 'done' end as outcome
      from goods
    ), done as (
      select id from decided where outcome = 'done'
    ), skus_written as (
      update catalog.product_skus s set price = skus.price, updated_at = now()
      from skus where s.id = skus.id and skus.product_id in (select id from done)
    ), products_written as (
      update catalog.products p set price = products.price, updated_at = now()
      from products where p.id = products.id and p.id in (select id from done)
    )
    select id, outcome from decided`;
  return new Map(rows.map((row) => [row.id, row.outcome]));
}

/**
 * Deletes locked products: they leave the shelf and all favourites, and their SKUs become inactive. The rows stay,
 * because orders, reviews, warehouses and activities refer to them.
 */
export async function markDeleted(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx`
    with skus as (
      update catalog.product_skus set status = 'inactive', updated_at = now()
      where product_id = any(${[...ids]}::bigint[]) and status = 'active'
    ), liked as (
      delete from catalog.favorites where product_id = any(${[...ids]}::bigint[])
    )
    update catalog.products set status = 0, favorite_count = 0, deleted_at = now(), updated_at = now()
    where id = any(${[...ids]}::bigint[])`;
}
