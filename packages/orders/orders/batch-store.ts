import type { Queryable } from '@tradepost/postgres';
import type { OrderStatus } from './order.ts';

/** Which of these orders there are, and where they stand: for the reason of a refusal, after the guarded write. */
export async function selectOrderStatuses(
  sql: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, OrderStatus>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: number; status: OrderStatus }[]>`
    select id, status from orders.orders where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row.status]));
}

export async function selectOrderNumbers(sql: Queryable, ids: readonly number[]): Promise<string[]> {
  const rows = await sql<{ order_no: string }[]>`
    select order_no from orders.orders where id = any(${[...ids]}::bigint[])`;
  return rows.map((row) => row.order_no);
}
