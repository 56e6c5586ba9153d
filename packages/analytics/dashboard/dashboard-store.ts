import type { Sql } from '@tradepost/postgres';

/** The number of orders in each status, from the stored counts. */
export async function countByStatus(sql: Sql): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ status: number; n: number }[]>`
    select status, sum(n)::int as n from orders.order_spans group by status`;
  return new Map(rows.map(({ status, n }) => [status, n]));
}
