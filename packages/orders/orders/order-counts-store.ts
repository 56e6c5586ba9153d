import { foldChanges, type Queryable, type Sql } from '@tradepost/postgres';
import type { OrderStatus } from './order-status.ts';

/** A block of order ids has 2 to the power of this number of ids. The triggers in 0005_orders.sql use the same number. */
export const blockBits = 12;

/** Counts of the blocks, and the changes that are not added to them yet. */
export const orderCounts = (sql: Queryable) => sql`
  (select block, status, payment_method, orders as n, first_at, last_at from orders.order_blocks
   union all
   select block, status, payment_method, change, first_at, last_at from orders.order_changes)`;

/** The number of orders of all shoppers in this state, from the stored counts. */
export async function countOrders(sql: Queryable, status: OrderStatus): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select coalesce(sum(n), 0)::int as n from ${orderCounts(sql)} as c where status = ${status}`;
  return row!.n;
}

/** Adds the recorded changes to the counts of the blocks. Returns the number of changes. Only one process does this at a time. */
export const foldOrderCounts = (sql: Sql): Promise<number> =>
  foldChanges(sql, {
    lock: 'orders.fold',
    changes: 'orders.order_changes',
    atMost: 200_000,
    add: (tx) => tx`
      insert into orders.order_blocks as b (block, status, payment_method, orders, first_at, last_at)
      select block, status, payment_method, sum(change), min(first_at), max(last_at) from changes group by 1, 2, 3
      on conflict (block, status, payment_method) do update
      set orders = b.orders + excluded.orders, first_at = least(b.first_at, excluded.first_at),
          last_at = greatest(b.last_at, excluded.last_at)`,
  });
