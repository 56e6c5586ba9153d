import type { Queryable } from '@tradepost/postgres';

/** The provider of each of these orders, by order number. Orders of providers that are not in `names` are left out. */
export async function selectProvidersOf(
  sql: Queryable,
  orderNos: readonly string[],
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ order_no: string; provider: string }[]>`
    select order_no, provider from inventory.order_inventory_state
    where order_no = any(${[...orderNos]}::text[]) and provider = any(${[...names]}::text[])`;
  return new Map(rows.map((row) => [row.order_no, row.provider]));
}

/** The providers among `names` that have orders whose stock is neither confirmed nor released. */
export async function selectProvidersWithOpenOrders(sql: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await sql<{ provider: string }[]>`
    select distinct provider from inventory.order_inventory_state
    where provider = any(${[...names]}::text[]) and status not in ('confirmed', 'released') order by provider`;
  return rows.map((row) => row.provider);
}
