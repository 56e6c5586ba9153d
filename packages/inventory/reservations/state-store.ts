import type { Queryable } from '@tradepost/postgres';

/** Those of the orders whose stock an external warehouse keeps. */
export async function selectExternalOrders(sql: Queryable, orderNos: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ order_no: string }[]>`
    select order_no from inventory.order_inventory_state
    where order_no = any(${[...orderNos]}::text[]) and provider = 'external_wms'`;
  return new Set(rows.map((row) => row.order_no));
}
