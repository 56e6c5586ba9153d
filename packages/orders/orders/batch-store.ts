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

export type NumberedOrder = { id: number; order_no: string; status: OrderStatus };

/** The orders with these numbers, by number. A number that no order has is absent. */
export async function selectOrdersByNumber(
  sql: Queryable,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, NumberedOrder>> {
  const rows = await sql<NumberedOrder[]>`
    select id, order_no, status from orders.orders where order_no = any(${[...numbers]}::text[])`;
  return new Map(rows.map((row) => [row.order_no, row]));
}

/** The phone numbers of the receivers of these orders. An order without one is absent. */
export async function selectReceiverPhones(
  sql: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ id: number; phone: string }[]>`
    select id, address_snapshot ->> 'phone' as phone from orders.orders
    where id = any(${[...ids]}::bigint[]) and address_snapshot ->> 'phone' is not null`;
  return new Map(rows.map((row) => [row.id, row.phone]));
}

/** The id of the order with this number; undefined when no order has it. */
export async function selectOrderIdOf(sql: Queryable, orderNo: string): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`select id from orders.orders where order_no = ${orderNo}`;
  return row?.id;
}
