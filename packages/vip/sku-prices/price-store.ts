import type { Paging } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import { selectPage } from '../fields.ts';

/** `vip_price` in minor units, `vip_discount_rate` in 1/10,000. */
export type PriceFields = {
  product_id: number;
  sku_id: number;
  level_id: number;
  vip_price: number;
  vip_discount_rate: number;
  status: 0 | 1;
};
export type SkuPrice = PriceFields & { id: number; level_name: string; created_at: Date; updated_at: Date };

/** Null: any. */
export type PriceFilter = {
  product_id: number | null;
  sku_id: number | null;
  level_id: number | null;
  status: number | null;
};

const columns = (sql: Queryable) => sql`
  p.id, p.product_id, p.sku_id, p.level_id, p.vip_price, p.vip_discount_rate, p.status, p.created_at, p.updated_at,
  (select v.name from vip.levels v where v.id = p.level_id) as level_name`;

/** Member prices, the newest first. */
export const selectPrices = (sql: Queryable, { product_id, sku_id, level_id, status }: PriceFilter, paging: Paging) =>
  selectPage<SkuPrice>(
    sql,
    {
      columns: columns(sql),
      from: sql`from vip.sku_prices p where true
        ${product_id === null ? sql`` : sql`and product_id = ${product_id}`}
        ${sku_id === null ? sql`` : sql`and sku_id = ${sku_id}`}
        ${level_id === null ? sql`` : sql`and level_id = ${level_id}`}
        ${status === null ? sql`` : sql`and status = ${status}`}`,
      order: sql`id desc`,
    },
    paging,
  );

/** The price, locked until the end of the transaction. */
export async function lockPrice(tx: Transaction, id: number): Promise<(PriceFields & { id: number }) | undefined> {
  const [row] = await tx<(PriceFields & { id: number })[]>`
    select id, product_id, sku_id, level_id, vip_price, vip_discount_rate, status
    from vip.sku_prices where id = ${id} for update`;
  return row;
}

/** Fails on the constraint `sku_prices_key` when the SKU has a price for the level. The level is held. */
export async function insertPrice(tx: Transaction, price: PriceFields): Promise<SkuPrice> {
  const [row] = await tx<SkuPrice[]>`
    with p as (
      insert into vip.sku_prices (product_id, sku_id, level_id, vip_price, vip_discount_rate, status)
      values (${price.product_id}, ${price.sku_id}, ${price.level_id}, ${price.vip_price}, ${price.vip_discount_rate},
              ${price.status})
      returning *)
    select ${columns(tx)} from p`;
  return row!;
}

/** Writes a locked price. Fails as `insertPrice` does. */
export async function updatePrice(tx: Transaction, id: number, price: PriceFields): Promise<void> {
  await tx`
    update vip.sku_prices
    set product_id = ${price.product_id}, sku_id = ${price.sku_id}, level_id = ${price.level_id},
        vip_price = ${price.vip_price}, vip_discount_rate = ${price.vip_discount_rate}, status = ${price.status},
        updated_at = now()
    where id = ${id}`;
}

export async function deletePrice(tx: Transaction, id: number): Promise<boolean> {
  const rows = await tx`delete from vip.sku_prices where id = ${id} returning 1`;
  return rows.length > 0;
}

/** The product of a SKU, or for `sku_id` 0 the product itself. Null: it does not exist. */
export async function selectProductOf(
  sql: Queryable,
  { product_id, sku_id }: Pick<PriceFields, 'product_id' | 'sku_id'>,
): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    select id from catalog.product_facts
    where deleted_at is null
      and id = case when ${sku_id}::bigint = 0 then ${product_id}::bigint else (select product_id from catalog.sku_facts where id = ${sku_id}) end`;
  return row?.id ?? null;
}
