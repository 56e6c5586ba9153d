import type { Queryable, Sql } from '@tradepost/postgres';

/** Orders are counted by blocks of so many bits of their ids; the triggers of 0005_orders.sql have the same number. */
export const blockBits = 12;

/** Counted orders and the changes that are not folded in yet. */
export const orderCounts = (sql: Queryable) => sql`
  (select block, status, payment_method, orders as n, first_at, last_at from orders.order_blocks
   union all
   select block, status, payment_method, change, first_at, last_at from orders.order_changes)`;

const foldedAtOnce = 200_000;

/** Folds what has changed into the counts of the blocks, and answers how many changes. One process at a time. */
export async function foldOrderCounts(sql: Sql): Promise<number> {
  let folded = 0;
  for (;;) {
    const count = await foldSome(sql);
    folded += count;
    // A shop whose worker was away for a day has millions: they go in pieces that a statement can carry.
    if (count < foldedAtOnce) return folded;
  }
}

async function foldSome(sql: Sql): Promise<number> {
  return sql.begin(async (tx) => {
    const [lock] = await tx<{ ours: boolean }[]>`select pg_try_advisory_xact_lock(hashtext('orders.fold')) as ours`;
    if (!lock!.ours) return 0;
    const [row] = await tx<{ n: number }[]>`
      with taken as (
        delete from orders.order_changes
        where id = any(array(select id from orders.order_changes order by id limit ${foldedAtOnce}))
        returning block, status, payment_method, change, first_at, last_at
      ), folded as (
        insert into orders.order_blocks as b (block, status, payment_method, orders, first_at, last_at)
        select block, status, payment_method, sum(change), min(first_at), max(last_at) from taken group by 1, 2, 3
        on conflict (block, status, payment_method) do update
        set orders = b.orders + excluded.orders, first_at = least(b.first_at, excluded.first_at),
            last_at = greatest(b.last_at, excluded.last_at)
      )
      select count(*)::int as n from taken`;
    return row!.n;
  });
}
