import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { maxLines } from '../limits.ts';

/** The key of a cart line. `activity_product_id` 0 means no activity. */
export type CartKey = { user_id: number; sku_id: number; activity_product_id: number };
export type CartLine = CartKey & { qty: number };

export const maxLineQty = 9_999;

/** The cart of a shopper, in the order in which the lines were added. */
export async function selectCart(sql: Queryable, userId: number): Promise<CartLine[]> {
  return sql<CartLine[]>`
    select user_id, sku_id, activity_product_id, qty from orders.cart_lines where user_id = ${userId} order by id limit ${maxLines}`;
}

/**
 * Adds quantities to existing lines, and appends new lines. A new line beyond the `maxLines` of its shopper is left out.
 * Returns the keys of the written lines. Each key occurs once in `lines`.
 */
export async function addCartLines(sql: Queryable, lines: readonly CartLine[]): Promise<CartKey[]> {
  return sql<CartKey[]>`
    select user_id, sku_id, activity_product_id from orders.add_cart_lines(
      ${lines.map((l) => l.user_id)}::bigint[], ${lines.map((l) => l.sku_id)}::bigint[],
      ${lines.map((l) => l.activity_product_id)}::bigint[], ${lines.map((l) => l.qty)}::int[],
      ${maxLines}, ${maxLineQty})`;
}

/** Sets the quantity of an existing line. A quantity of 0 or less removes the line. */
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

/** `seq` is the order in which the lines were added. */
type SeqLine = CartLine & { seq: number };

const cartsOf = (sql: Queryable, userIds: readonly number[]) => sql`
  select user_id, sku_id, activity_product_id, qty, id as seq from orders.cart_lines
  where user_id = any(${[...userIds]}::bigint[])`;

/** The carts of these shoppers, without locks. */
export async function selectCarts(sql: Queryable, userIds: readonly number[]): Promise<SeqLine[]> {
  return sql<SeqLine[]>`${cartsOf(sql, userIds)}`;
}

/**
 * The carts of these shoppers, locked in key order until the transaction ends. A second click waits, and then does not find
 * the lines any more.
 */
export async function lockCarts(tx: Transaction, userIds: readonly number[]): Promise<SeqLine[]> {
  return tx<SeqLine[]>`${cartsOf(tx, userIds)} order by user_id, sku_id, activity_product_id for update`;
}
