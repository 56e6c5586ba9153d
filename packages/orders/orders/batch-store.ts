import type { Queryable } from '@tradepost/postgres';
import type { OrderStatus } from './order-status.ts';

/** The status of these orders; an order that does not exist is absent. Used after a guarded write, to choose the refusal. */
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
