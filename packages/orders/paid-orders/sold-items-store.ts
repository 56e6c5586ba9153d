import type { Queryable } from '@tradepost/postgres';
import type { OrderItem } from '../orders/order.ts';

/** The goods of an order line as the buyer saw them. */
export type SoldItem = Pick<OrderItem, 'id' | 'title' | 'cover' | 'attrs'>;

/** These order lines by id, for lists whose rows belong to lines of many orders. */
export async function selectSoldItems(sql: Queryable, ids: readonly number[]): Promise<Map<number, SoldItem>> {
  const rows = await sql<SoldItem[]>`
    select id, title, cover, attrs from orders.order_items where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row]));
}
