import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Order, OrderItem } from '../orders/order.ts';
import { blockBits, orderCounts } from '../orders/order-counts-store.ts';
import type { OrderStatus } from '../orders/order-status.ts';

/** A line of an order for other packages. Amounts are in minor units. */
export type OrderLine = Pick<
  OrderItem,
  | 'id'
  | 'sku_id'
  | 'activity_product_id'
  | 'product_id'
  | 'warehouse_id'
  | 'qty'
  | 'price'
  | 'payable_amount'
  | 'title'
  | 'cover'
  | 'attrs'
>;
/** An order with its lines, oldest line first. */
export type OrderWithLines = Pick<Order, 'id' | 'order_no' | 'user_id' | 'merchant_id' | 'status' | 'total_amount'> & {
  /** It is the history of an older shop, which has no payment and no stock here. */
  is_imported: boolean;
  items: OrderLine[];
};
type Row = Omit<OrderWithLines, 'items'> & { line: OrderLine };

const ordersWithLines = (sql: Queryable, orderIds: readonly number[]): Statement => sql`
  select o.id, o.order_no, o.user_id, o.merchant_id, o.status, o.total_amount,
    exists (select from orders.imported_orders m where m.order_id = o.id) as is_imported, to_jsonb(l) as line
  from orders.orders o
  cross join lateral (
    select i.id, i.sku_id, i.activity_product_id, i.product_id, i.warehouse_id, i.qty, i.price, i.payable_amount, i.title, i.cover, i.attrs
    from orders.order_items i where i.order_id = o.id) as l
  where o.id = any(${[...orderIds]}::bigint[]) order by o.id, l.id`;

function grouped(rows: readonly Row[]): OrderWithLines[] {
  const orders = new Map<number, OrderWithLines>();
  for (const { line, ...order } of rows) {
    const known = orders.get(order.id);
    if (known) known.items.push(line);
    else orders.set(order.id, { ...order, items: [line] });
  }
  return [...orders.values()];
}

/** These orders with their lines, in id order. An order that does not exist is absent. */
export async function selectOrderLines(sql: Queryable, orderIds: readonly number[]): Promise<OrderWithLines[]> {
  return grouped(await sql<Row[]>`${ordersWithLines(sql, orderIds)}`);
}

/** The line of an order with its pieces, and the status of the order. */
export type LineQuantity = { order_id: number; status: OrderStatus; id: number; qty: number; is_imported: boolean };

/** The lines of these orders, without what buyers see of them. */
export async function selectLineQuantities(sql: Queryable, orderIds: readonly number[]): Promise<LineQuantity[]> {
  return sql<LineQuantity[]>`
    select i.order_id, o.status, i.id, i.qty, exists (select from orders.imported_orders m where m.order_id = o.id) as is_imported
    from orders.order_items i join orders.orders o on o.id = i.order_id
    where i.order_id = any(${[...orderIds]}::bigint[])`;
}

/** Locks these orders in id order until the transaction ends, and returns them with their lines. */
export async function lockOrdersForAfterSale(tx: Transaction, orderIds: readonly number[]): Promise<OrderWithLines[]> {
  return grouped(await tx<Row[]>`${ordersWithLines(tx, orderIds)} for no key update of o`);
}

/**
 * At most `limit` orders of a shopper that wait for payment or shipment and have a line of this row of an activity: the paid ones
 * first, then the newest. `sku_id` 0 is any SKU.
 */
export async function selectOpenOrdersOfRow(
  sql: Queryable,
  of: { user_id: number; activity_product_id: number; sku_id: number },
  { now, limit }: { now: Date; limit: number },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select o.id from orders.orders o
    where o.user_id = ${of.user_id}
      and (o.status = 2 or (o.status = 1 and o.expires_at > ${now})) -- paid, pending payment
      and exists (
        select from orders.order_items i
        where i.order_id = o.id and i.activity_product_id = ${of.activity_product_id}
          and (${of.sku_id} = 0 or i.sku_id = ${of.sku_id}))
    order by o.status desc, o.id desc limit ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * At most `limit` shipped orders (3) that came into this state before `before`. The time of an order whose after-sale has ended
 * starts again. Only blocks of ids that have shipped orders of that age are read, until enough orders are found.
 */
export async function selectShippedBefore(sql: Queryable, before: Date, limit: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with blocks as materialized (
      select block from ${orderCounts(sql)} as c where status = 3 -- shipped
      group by block having sum(n) > 0 and min(first_at) < ${before}
    )
    select o.id from blocks b
    cross join lateral (
      select id from orders.orders
      where id >= b.block << ${blockBits} and id < (b.block + 1) << ${blockBits}
        and status = 3 -- shipped
        and created_at < ${before}
    ) as o
    where (select max(h.created_at) from orders.order_history h where h.order_id = o.id and h.to_status = 3) < ${before}
    limit ${limit}`;
  return rows.map((row) => row.id).sort((a, b) => a - b);
}
