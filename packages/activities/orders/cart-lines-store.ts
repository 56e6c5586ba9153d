import type { ActivityLine } from '@tradepost/orders';
import type { Queryable } from '@tradepost/postgres';

/** The product and the price of each SKU, in minor units. */
export async function selectSkuProducts(
  sql: Queryable,
  lines: readonly ActivityLine[],
): Promise<Map<number, { product_id: number; price: number }>> {
  const rows = await sql<{ id: number; product_id: number; price: number }[]>`
    select id, product_id, price from catalog.sku_cards where id = any(${lines.map((line) => line.sku_id)}::bigint[])`;
  return new Map(rows.map(({ id, ...sku }) => [id, sku]));
}
