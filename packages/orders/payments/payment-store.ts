import type { InventoryStatus } from '@tradepost/inventory';
import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import type { OrderStatus } from '../orders/order.ts';
import type { OwnedOrder } from '../orders/order-store.ts';
import type { Payment, PaymentOfOrder, PaymentStatus } from './payment-rules.ts';

const columns = (sql: Queryable) => sql`
  p.id, p.order_id, coalesce(p.payment_no, 'I' || p.id) as payment_no, p.provider, p.amount, p.currency, p.trade_no, p.origin_id,
  p.return_url, p.paid_at, p.created_at`;

/** What decides whether an order can be paid, and by how much. */
export type PayableOrder = {
  id: number;
  order_no: string;
  user_id: number;
  status: OrderStatus;
  total_amount: number;
  payment_method: string;
  inventory_status: InventoryStatus;
  expires_at: Date;
};
const orderFacts = (sql: Queryable) => sql`
  o.id, o.order_no, o.user_id, o.status, o.total_amount, o.payment_method, o.inventory_status, o.expires_at`;

/** Locks these shoppers' own orders in id order. */
export async function lockOwnOrders(tx: Transaction, requests: readonly OwnedOrder[]): Promise<PayableOrder[]> {
  return tx<PayableOrder[]>`
    with wanted as materialized (
      select distinct o.id from orders.orders o
      join unnest(${requests.map((r) => r.order_id)}::bigint[], ${requests.map((r) => r.user_id)}::bigint[])
        as r (order_id, user_id) on o.id = r.order_id and o.user_id = r.user_id
    )
    select ${orderFacts(tx)} from orders.orders o join wanted using (id) order by o.id for no key update of o`;
}

export type MoneyName = { payment_no: string; provider: string; trade_no: string };

/** Locks, in id order, the orders of payments that have one of these numbers. */
export async function lockOrdersOfPayments(tx: Transaction, names: readonly MoneyName[]): Promise<PayableOrder[]> {
  return tx<PayableOrder[]>`
    with named as materialized (
      select * from unnest(${names.map((n) => n.payment_no)}::text[], ${names.map((n) => n.provider)}::text[],
                           ${names.map((n) => n.trade_no)}::text[]) as n (payment_no, provider, trade_no)
    ), wanted as materialized (
      select p.order_id as id from named n join orders.payments p on p.payment_no = n.payment_no
      union
      select p.order_id from named n join orders.payments p on p.provider = n.provider and p.trade_no = n.trade_no
    )
    select ${orderFacts(tx)} from orders.orders o join wanted using (id) order by o.id for no key update of o`;
}

/** Every payment of these orders, oldest first. Under the orders' locks nothing but a refund or a closing moves them. */
export async function selectPaymentsOf(tx: Transaction, orderIds: readonly number[]): Promise<Payment[]> {
  return tx<Payment[]>`
    select ${columns(tx)}, p.status from orders.payments p
    where p.order_id = any(${[...orderIds]}::bigint[]) order by p.id`;
}

export type NewPayment = Omit<Payment, 'id'> & { method: string };

export function insertPayments(tx: Transaction, payments: readonly NewPayment[]): Statement {
  return tx`
    insert into orders.payments (order_id, payment_no, provider, method, amount, currency, status, trade_no, origin_id,
      return_url, paid_at, created_at, updated_at)
    select order_id, payment_no, provider, method, amount, currency, status, trade_no, origin_id, return_url, paid_at,
      created_at, created_at
    from json_to_recordset(${JSON.stringify(payments)}::text::json) as p (order_id bigint, payment_no text, provider text,
      method text, amount bigint, currency text, status text, trade_no text, origin_id bigint, return_url text,
      paid_at timestamptz, created_at timestamptz)`;
}

/** Open payments that somebody else's decision has ended. */
export function closePayments(tx: Transaction, ids: readonly number[], now: Date): Statement {
  return tx`
    update orders.payments set status = 'closed', updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and status = 'pending'`;
}

export function setReturnUrls(
  tx: Transaction,
  urls: readonly { id: number; return_url: string }[],
  now: Date,
): Statement {
  return tx`
    update orders.payments p set return_url = u.return_url, updated_at = ${now}
    from unnest(${urls.map((u) => u.id)}::bigint[], ${urls.map((u) => u.return_url)}::text[]) as u (id, return_url)
    where p.id = u.id`;
}

export type PaymentMove = { id: number; to: PaymentStatus; trade_no: string | null; paid_at: Date | null };

/** What a provider has said about payments whose money had not come in; each of them must still be so. */
export function movePayments(tx: Transaction, moves: readonly PaymentMove[], now: Date): Statement {
  return tx`
    with moved as (
      update orders.payments p
      set status = m.status, trade_no = m.trade_no, paid_at = m.paid_at, updated_at = ${now}
      from unnest(${moves.map((m) => m.id)}::bigint[], ${moves.map((m) => m.to)}::text[],
                  ${moves.map((m) => m.trade_no)}::text[],
                  ${moves.map((m) => m.paid_at?.toISOString() ?? null)}::timestamptz[]) as m (id, status, trade_no, paid_at)
      where p.id = m.id and p.status in ('pending', 'failed', 'closed')
      returning 1
    )
    select runtime.must(count(*) = ${moves.length}, 'a payment has moved under the lock of its order') from moved`;
}

/**
 * The status as answered: an order that is not pending payment (1) any more, or expired, has no open payment, although the row
 * may still say so.
 */
const ofOrder = (sql: Queryable, now: Date) => sql`
  ${columns(sql)}, o.order_no, o.status as order_status, o.expires_at,
  case when p.status = 'pending' and (o.status <> 1 or o.expires_at <= ${now}) then 'closed' else p.status end as status,
  (select max(r.finished_at) from orders.refunds r where r.payment_id = p.id and r.status = 'succeeded') as refunded_at
  from orders.payments p join orders.orders o on o.id = p.order_id`;

/** One payment by its number; `userId` null is the development cashier. */
export async function selectPayment(
  sql: Sql,
  paymentNo: string,
  userId: number | null,
  now: Date,
): Promise<PaymentOfOrder | undefined> {
  const instantId = /^I(\d{1,15})$/.exec(paymentNo)?.[1];
  const [row] = await sql<PaymentOfOrder[]>`
    select ${ofOrder(sql, now)}
    where ${instantId ? sql`p.id = ${Number(instantId)} and p.payment_no is null` : sql`p.payment_no = ${paymentNo}`}
      ${userId === null ? sql`` : sql`and o.user_id = ${userId}`}`;
  return row;
}

/** The payment that says most about an order: what settled it, else an open one, else the latest. */
export async function selectPaymentOfOrder(
  sql: Sql,
  orderId: number,
  userId: number,
  now: Date,
): Promise<PaymentOfOrder | undefined> {
  const [row] = await sql<PaymentOfOrder[]>`
    select ${ofOrder(sql, now)}
    where p.order_id = ${orderId} and o.user_id = ${userId}
    order by p.status = 'succeeded' desc, p.status = 'pending' desc, p.id desc limit 1`;
  return row;
}

/** What a notice about a payment would say, found by its number or as the latest of an order; for the development tools. */
export async function selectPaymentToTell(
  sql: Sql,
  by: { payment_no: string } | { order_id: number },
): Promise<{ payment_no: string; amount: number; currency: string } | undefined> {
  const [row] = await sql<{ payment_no: string; amount: number; currency: string }[]>`
    select payment_no, amount, currency from orders.payments
    where payment_no is not null and origin_id is null
      and ${'payment_no' in by ? sql`payment_no = ${by.payment_no}` : sql`order_id = ${by.order_id}`}
    order by status = 'pending' desc, id desc limit 1`;
  return row;
}

/** Closes open payments of orders that are not pending payment (1) any more; answers how many. */
export async function closeIdlePayments(sql: Sql, now: Date, limit: number): Promise<number> {
  const closed = await sql`
    update orders.payments p set status = 'closed', updated_at = ${now}
    where p.status = 'pending' and p.id in (
      select q.id from orders.payments q join orders.orders o on o.id = q.order_id
      where q.status = 'pending' and o.status <> 1
      -- skip locked: a payment notice is being processed and moves the payment itself
      order by q.id limit ${limit} for update of q skip locked)`;
  return closed.count;
}
