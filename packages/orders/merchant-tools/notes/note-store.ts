import type { Queryable } from '@tradepost/postgres';

export type OrderNote = { id: number; order_id: number; content: string; visible_to: string; created_at: Date };

/** Adds the note to each of these locked orders that has fewer than `max` notes. Returns the ids of these orders. */
export async function insertNotes(
  sql: Queryable,
  orderIds: readonly number[],
  note: { content: string; visible_to: string; staff_id: number; now: Date; max: number },
): Promise<number[]> {
  const rows = await sql<{ order_id: number }[]>`
    insert into orders.order_notes (order_id, content, visible_to, staff_id, created_at)
    select o.id, ${note.content}, ${note.visible_to}, ${note.staff_id}, ${note.now}
    from orders.orders o
    where o.id = any(${[...orderIds]}::bigint[])
      and (select count(*) from orders.order_notes n where n.order_id = o.id) < ${note.max}
    order by o.id
    returning order_id`;
  return rows.map((row) => row.order_id);
}

/** The notes of these orders, oldest first. */
export async function selectNotes(sql: Queryable, orderIds: readonly number[]): Promise<OrderNote[]> {
  return sql<OrderNote[]>`
    select id, order_id, content, visible_to, created_at from orders.order_notes
    where order_id = any(${[...orderIds]}::bigint[]) order by order_id, id`;
}
