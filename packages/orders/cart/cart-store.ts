import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { maxLines } from '../limits.ts';

/** A cart line is known by (user, SKU, activity product); 0 = no activity. */
export type CartKey = { user_id: number; sku_id: number; activity_product_id: number };
export type CartLine = CartKey & { qty: number };

export const maxLineQty = 9_999;

/** In the order in which they were added. */
export async function selectCart(sql: Queryable, userId: number): Promise<CartLine[]> {
  return sql<CartLine[]>`
    select user_id, sku_id, activity_product_id, qty from orders.cart_lines where user_id = ${userId} order by id limit ${maxLines}`;
}

/**
 * Adds quantities to lines, new ones at the end, and answers the keys it has written: a new line that would be more than
 * `maxLines` of its shopper is left out. The caller has summed equal keys.
 */
export async function addCartLines(sql: Queryable, lines: readonly CartLine[]): Promise<CartKey[]> {
  return sql<CartKey[]>`
    select user_id, sku_id, activity_product_id from orders.add_cart_lines(
      ${lines.map((l) => l.user_id)}::bigint[], ${lines.map((l) => l.sku_id)}::bigint[],
      ${lines.map((l) => l.activity_product_id)}::bigint[], ${lines.map((l) => l.qty)}::int[],
      ${maxLines}, ${maxLineQty})`;
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
