import type { Queryable, Sql, Transaction } from '@tradepost/runtime';
import { maxLines } from './limits.ts';

/** A cart line is known by (user, SKU, activity product); 0 = no activity. */
export type CartKey = { user_id: number; sku_id: number; activity_product_id: number };
export type CartLine = CartKey & { qty: number };

export const maxLineQty = 9_999;

/** In the order in which they were added. */
export async function selectCart(sql: Queryable, userId: number): Promise<CartLine[]> {
  return sql<CartLine[]>`
    select user_id, sku_id, activity_product_id, qty from orders.cart_lines where user_id = ${userId} order by id limit ${maxLines}`;
}

/** Of these shoppers one adder at a time, so that the number of their lines is exact. Locks end with the transaction. */
export async function lockCartsToAdd(tx: Transaction, userIds: readonly number[]): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(hashtext('orders.cart_add'), of)
    from (select distinct hashint8(id) as of from unnest(${[...userIds]}::bigint[]) as u (id) order by 1) users`;
}

/**
 * Adds quantities to lines, new ones at the end, and answers the keys it has written: a new line that would be more than
 * `maxLines` of its shopper is left out. Rows are written in key order, so that two batches that meet on the same lines
 * wait for each other instead of deadlocking; the caller has summed equal keys and holds the shoppers.
 */
export async function addCartLines(tx: Transaction, lines: readonly CartLine[]): Promise<CartKey[]> {
  return tx<CartKey[]>`
    with wanted as (
      select l.*, c.id is null as is_new
      from unnest(${lines.map((l) => l.user_id)}::bigint[], ${lines.map((l) => l.sku_id)}::bigint[],
                  ${lines.map((l) => l.activity_product_id)}::bigint[], ${lines.map((l) => l.qty)}::int[])
        with ordinality as l (user_id, sku_id, activity_product_id, qty, n)
      left join orders.cart_lines c using (user_id, sku_id, activity_product_id)
    ), held as (
      select user_id, count(*) as n from orders.cart_lines
      where user_id in (select user_id from wanted where is_new) group by user_id
    ), numbered as (
      select w.*, coalesce(held.n, 0) + count(*) filter (where is_new) over (partition by user_id order by w.n) as place
      from wanted w left join held using (user_id)
    )
    insert into orders.cart_lines (user_id, sku_id, activity_product_id, qty)
    select user_id, sku_id, activity_product_id, least(qty, ${maxLineQty}) from numbered
    where not is_new or place <= ${maxLines}
    order by user_id, sku_id, activity_product_id
    on conflict (user_id, sku_id, activity_product_id)
    do update set qty = least(cart_lines.qty + excluded.qty, ${maxLineQty})
    returning user_id, sku_id, activity_product_id`;
}

/** Sets the quantity of a line that is there; 0 or less removes it. */
export async function setCartQty(sql: Sql, line: CartLine): Promise<void> {
  if (line.qty <= 0) return deleteCartLine(sql, line);
  await sql`
    update orders.cart_lines set qty = ${Math.min(line.qty, maxLineQty)}
    where user_id = ${line.user_id} and sku_id = ${line.sku_id} and activity_product_id = ${line.activity_product_id}`;
}

export async function deleteCartLine(sql: Sql, key: CartKey): Promise<void> {
  await sql`
    delete from orders.cart_lines
    where user_id = ${key.user_id} and sku_id = ${key.sku_id} and activity_product_id = ${key.activity_product_id}`;
}

/** `seq` is the order of adding. */
type SeqLine = CartLine & { seq: number };

const cartsOf = (sql: Queryable, userIds: readonly number[]) => sql`
  select user_id, sku_id, activity_product_id, qty, id as seq from orders.cart_lines
  where user_id = any(${[...userIds]}::bigint[])`;

/** The carts of these shoppers as they are now. */
export async function selectCarts(sql: Queryable, userIds: readonly number[]): Promise<SeqLine[]> {
  return sql<SeqLine[]>`${cartsOf(sql, userIds)}`;
}

/**
 * The carts of these shoppers, locked in key order until the order is written: a second click waits, and then finds the
 * lines gone.
 */
export async function lockCarts(tx: Transaction, userIds: readonly number[]): Promise<SeqLine[]> {
  return tx<SeqLine[]>`${cartsOf(tx, userIds)} order by user_id, sku_id, activity_product_id for update`;
}
