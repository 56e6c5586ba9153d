import type { InventoryStatus } from '@tradepost/inventory';
import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import type { CartKey } from '../cart/cart-store.ts';
import type { Order, OrderItem } from './order.ts';
import { blockBits, orderCounts } from './order-counts-store.ts';
import { orderTransitions } from './order-status.ts';

export const orderColumns = (sql: Queryable) => sql`
  o.id, o.order_no, o.user_id, o.merchant_id, o.status, o.inventory_status, o.payment_method, o.goods_amount,
  o.discount_amount, o.freight_amount, o.total_amount, o.discounts, o.price_steps, o.address_snapshot, o.remark, o.tracking_no, o.expires_at, o.paid_at,
  o.created_at, o.updated_at`;

export type Actor = { type: 'user' | 'admin' | 'system'; id: number };

/** Reserves ids for orders that will be written. The order number contains the id. */
export async function nextOrderIds(sql: Queryable, count: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select nextval('orders.orders_id_seq') as id from generate_series(1, ${count})`;
  return rows.map((row) => row.id);
}

export type NewOrderItem = Omit<OrderItem, 'id'>;

/** Inserts orders, lines and history, and deletes the cart lines that were ordered, in one statement. */
export function insertOrders(
  tx: Transaction,
  orders: readonly Order[],
  items: readonly NewOrderItem[],
  usedUp: readonly CartKey[],
): Statement {
  return tx`
    with placed as (
      insert into orders.orders (id, order_no, user_id, merchant_id, status, inventory_status, payment_method, goods_amount,
        discount_amount, freight_amount, total_amount, discounts, price_steps, address_snapshot, province, remark, expires_at,
        created_at, updated_at)
      select id, order_no, user_id, merchant_id, status, inventory_status, payment_method, goods_amount, discount_amount,
        freight_amount, total_amount, discounts, price_steps, address_snapshot, address_snapshot ->> 'province', remark, expires_at,
        created_at, created_at
      from json_to_recordset(${JSON.stringify(orders)}::text::json) as o (id bigint, order_no text, user_id bigint,
        merchant_id bigint, status smallint, inventory_status text, payment_method text, goods_amount bigint,
        discount_amount bigint, freight_amount bigint, total_amount bigint, discounts jsonb, price_steps text[],
        address_snapshot jsonb, remark text,
        expires_at timestamptz, created_at timestamptz)
      returning id, user_id, created_at
    ), lines as (
      insert into orders.order_items (order_id, product_id, sku_id, warehouse_id, activity_product_id, activity_id,
        activity_type, activity_title, title, cover, attrs, price, qty, payable_amount, discounts)
      select order_id, product_id, sku_id, warehouse_id, activity_product_id, activity_id, activity_type, activity_title,
        title, cover, attrs, price, qty, payable_amount, discounts
      from json_to_recordset(${JSON.stringify(items)}::text::json) as i (order_id bigint, product_id bigint, sku_id bigint,
        warehouse_id bigint, activity_product_id bigint, activity_id bigint, activity_type text, activity_title text,
        title text, cover text, attrs jsonb, price bigint, qty int, payable_amount bigint, discounts jsonb)
    ), history as (
      insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, actor_id, created_at)
      select id, null, 1, 'create', 'user', user_id, created_at from placed
    )
    delete from orders.cart_lines c
    using unnest(${usedUp.map((k) => k.user_id)}::bigint[], ${usedUp.map((k) => k.sku_id)}::bigint[],
                 ${usedUp.map((k) => k.activity_product_id)}::bigint[]) as u (user_id, sku_id, activity_product_id)
    where c.user_id = u.user_id and c.sku_id = u.sku_id and c.activity_product_id = u.activity_product_id`;
}

/** Records titles that products were sold under. The rows are in key order, so that two batches do not deadlock. */
export function insertSoldTitles(tx: Transaction, titles: readonly { product_id: number; title: string }[]): Statement {
  return tx`
    insert into orders.sold_titles (product_id, title)
    select product_id, title
    from unnest(${titles.map((t) => t.product_id)}::bigint[], ${titles.map((t) => t.title)}::text[]) as t (product_id, title)
    order by product_id, title
    on conflict do nothing`;
}

/** An order and its shopper. `user_id` null is a request of the system, which may change the order of any shopper. */
export type OwnedOrder = { order_id: number; user_id: number | null };
export type MovedOrder = { id: number; order_no: string; user_id: number; total_amount: number };
/** `price_steps` names the price steps of which the order uses something; null for none. */
export type CancelledOrder = MovedOrder & { price_steps: string[] | null };

/**
 * Marks unpaid orders of these shoppers as paid: status, history and payment in one guarded statement. With `instant` null
 * the payment row exists already, and the caller updates it in the same transaction. `freeOnly` leaves out orders that cost money.
 * A request with a payment method changes that of its order.
 */
export async function markPaid(
  tx: Transaction,
  requests: readonly (OwnedOrder & { payment_method?: string })[],
  values: { inventoryStatus: string; instant: { currency: string; freeOnly: boolean } | null; now: Date },
): Promise<MovedOrder[]> {
  const { instant } = values;
  const { pay } = orderTransitions;
  return tx<MovedOrder[]>`
    with locked as materialized (
      select o.id, o.status, coalesce(r.payment_method, o.payment_method) as payment_method from orders.orders o
      join unnest(${requests.map((r) => r.order_id)}::bigint[], ${requests.map((r) => r.user_id)}::bigint[],
                  ${requests.map((r) => r.payment_method ?? null)}::text[])
        as r (order_id, user_id, payment_method) on o.id = r.order_id and o.user_id = r.user_id
      where o.status = any(${pay.from}::smallint[])
        -- An instant payment is refused after the expiry, and when the external warehouse refused the stock.
        -- A payment notice was decided by the caller, under the lock of the order.
        ${instant ? tx`and o.expires_at > ${values.now} and o.inventory_status <> 'failed'` : tx``}
        ${instant?.freeOnly ? tx`and o.total_amount = 0` : tx``}
      order by o.id for no key update of o
    ), moved as (
      update orders.orders o
      set status = ${pay.to}, inventory_status = ${values.inventoryStatus}, paid_at = ${values.now}, updated_at = ${values.now},
        payment_method = locked.payment_method
      from locked where o.id = locked.id
      returning o.id, o.order_no, o.user_id, o.total_amount, o.payment_method, locked.status as was
    ), history as (
      insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, actor_id, created_at)
      select id, was, ${pay.to}, 'pay', 'user', user_id, ${values.now} from moved
    )${
      instant
        ? tx`, paid as (
      insert into orders.payments (order_id, provider, method, amount, currency, status, paid_at, created_at)
      select id, 'instant', payment_method, total_amount, ${instant.currency}, 'succeeded', ${values.now}, ${values.now}
      from moved
    )`
        : tx``
    }
    select id, order_no, user_id, total_amount from moved`;
}

/** Marks unpaid orders as cancelled. */
export async function markCancelled(
  tx: Transaction,
  requests: readonly OwnedOrder[],
  values: {
    inventoryStatus: string;
    trigger: 'user_cancel' | 'timeout' | 'merchant_close';
    /** Recorded as the actor. For a request of a shopper, the id of the shopper replaces `id`. */
    actor: Actor;
    note: string;
    now: Date;
  },
): Promise<CancelledOrder[]> {
  const { actor } = values;
  const cancel = orderTransitions[values.trigger];
  return tx<CancelledOrder[]>`
    with locked as materialized (
      select o.id, o.status, r.user_id as actor_id from orders.orders o
      join unnest(${requests.map((r) => r.order_id)}::bigint[], ${requests.map((r) => r.user_id)}::bigint[])
        as r (order_id, user_id) on o.id = r.order_id and (o.user_id = r.user_id or r.user_id is null)
      where o.status = any(${cancel.from}::smallint[]) order by o.id for no key update of o
    ), moved as (
      update orders.orders o
      set status = ${cancel.to}, inventory_status = ${values.inventoryStatus}, updated_at = ${values.now}
      from locked where o.id = locked.id
      returning o.id, o.order_no, o.user_id, o.total_amount, o.price_steps, locked.actor_id, locked.status as was
    ), history as (
      insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, actor_id, note, created_at)
      select id, was, ${cancel.to}, ${values.trigger}, ${actor.type}, coalesce(actor_id, ${actor.id}::bigint),
             ${values.note}, ${values.now}
      from moved
    )
    select id, order_no, user_id, total_amount, price_steps from moved`;
}

/** An order that was shipped, and its shopper. `phone` is that of the receiver. */
export type ShippedOrder = { id: number; order_no: string; user_id: number; phone: string };

/** Marks paid orders as shipped, with their tracking number. Returns the orders that changed. */
export async function markShipped(
  tx: Transaction,
  rows: readonly { order_id: number; tracking_no: string }[],
  values: { actor: Actor; now: Date },
): Promise<ShippedOrder[]> {
  const { ship } = orderTransitions;
  return tx<ShippedOrder[]>`
    with locked as materialized (
      select o.id, o.status, r.tracking_no from orders.orders o
      join unnest(${rows.map((r) => r.order_id)}::bigint[], ${rows.map((r) => r.tracking_no)}::text[])
        as r (order_id, tracking_no) on o.id = r.order_id
      where o.status = any(${ship.from}::smallint[]) order by o.id for no key update of o
    ), moved as (
      -- A number that is empty, of a local delivery, keeps the one of a re-shipment before.
      update orders.orders o
      set status = ${ship.to}, tracking_no = coalesce(nullif(locked.tracking_no, ''), o.tracking_no), updated_at = ${values.now}
      from locked where o.id = locked.id
      returning o.id, o.order_no, o.user_id, coalesce(o.address_snapshot ->> 'phone', '') as phone, locked.status as was
    ), history as (
      insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, actor_id, created_at)
      select id, was, ${ship.to}, 'ship', ${values.actor.type}, ${values.actor.id}, ${values.now} from moved
    )
    select id, order_no, user_id, phone from moved`;
}

/** Unpaid orders that have expired, without those in `except`. Only blocks of ids that have unpaid orders are read. */
export async function selectExpiredOrders(
  sql: Sql,
  now: Date,
  limit: number,
  except: readonly number[],
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with blocks as materialized (
      select block from ${orderCounts(sql)} as c where status = 1 -- pending payment
      group by block having sum(n) > 0
    )
    select o.id from blocks b
    cross join lateral (
      select id, expires_at from orders.orders
      where id >= b.block << ${blockBits} and id < (b.block + 1) << ${blockBits}
        and status = 1 -- pending payment
        and expires_at <= ${now} and id <> all(${[...except]}::bigint[])
    ) as o
    order by o.expires_at limit ${limit}`;
  return rows.map((row) => row.id);
}

/** With `userId` null any order is found (back office), else only an order of this shopper. */
export async function selectOrder(sql: Queryable, id: number, userId: number | null): Promise<Order | undefined> {
  const [row] = await sql<Order[]>`
    select ${orderColumns(sql)} from orders.orders o
    where o.id = ${id} ${userId === null ? sql`` : sql`and o.user_id = ${userId}`}`;
  return row;
}

/** The lines of these orders, in the order in which they were written. */
export async function selectOrderItems(sql: Queryable, orderIds: readonly number[]): Promise<OrderItem[]> {
  return sql<OrderItem[]>`
    select id, order_id, warehouse_id, product_id, sku_id, activity_product_id, activity_id, activity_type, activity_title,
           title, cover, attrs, price, qty, payable_amount, discounts
    from orders.order_items where order_id = any(${[...orderIds]}::bigint[]) order by order_id, id`;
}

/** Writes the inventory status of these orders. Locks all of them in id order, also those that have the status already. */
export function writeInventoryStatus(
  tx: Transaction,
  rows: readonly { order_no: string; status: InventoryStatus }[],
): Statement {
  return tx`
    with locked as materialized (
      select o.id, r.status from orders.orders o
      join unnest(${rows.map((r) => r.order_no)}::text[], ${rows.map((r) => r.status)}::text[]) as r (order_no, status)
        on o.order_no = r.order_no
      order by o.id for no key update of o
    )
    update orders.orders o set inventory_status = locked.status, updated_at = now()
    from locked where o.id = locked.id and o.inventory_status <> locked.status`;
}
