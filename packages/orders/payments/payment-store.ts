import type { InventoryStatus } from '@tradepost/inventory';
import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import type { OrderStatus } from '../orders/order-status.ts';
import type { OwnedOrder } from '../orders/order-store.ts';
import type { Payment, PaymentOfOrder, PaymentStatus, StoredAction } from './payment-rules.ts';

const columns = (sql: Queryable) => sql`
  p.id, p.order_id, coalesce(p.payment_no, 'I' || p.id) as payment_no, p.provider, p.amount, p.currency, p.trade_no, p.origin_id,
  p.return_url, p.channel, p.pay_action, p.action_until, p.paid_at, p.created_at`;

/** The fields of an order that decide whether it can be paid, and the amount. */
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

/** Locks the requested orders in id order. An order of another shopper is left out. */
export async function lockOwnOrders(tx: Transaction, requests: readonly OwnedOrder[]): Promise<PayableOrder[]> {
  return tx<PayableOrder[]>`
    with requested as materialized (
      select distinct o.id from orders.orders o
      join unnest(${requests.map((r) => r.order_id)}::bigint[], ${requests.map((r) => r.user_id)}::bigint[])
        as r (order_id, user_id) on o.id = r.order_id and o.user_id = r.user_id
    )
    select ${orderFacts(tx)} from orders.orders o join requested using (id) order by o.id for no key update of o`;
}

export type NoticeNumbers = { payment_no: string; provider: string; trade_no: string };

/** Locks, in id order, the orders of payments with one of these payment numbers or trade numbers. */
export async function lockOrdersOfPayments(tx: Transaction, names: readonly NoticeNumbers[]): Promise<PayableOrder[]> {
  return tx<PayableOrder[]>`
    with named as materialized (
      select * from unnest(${names.map((n) => n.payment_no)}::text[], ${names.map((n) => n.provider)}::text[],
                           ${names.map((n) => n.trade_no)}::text[]) as n (payment_no, provider, trade_no)
    ), found as materialized (
      select p.order_id as id from named n join orders.payments p on p.payment_no = n.payment_no
      union
      select p.order_id from named n join orders.payments p on p.provider = n.provider and p.trade_no = n.trade_no
    )
    select ${orderFacts(tx)} from orders.orders o join found using (id) order by o.id for no key update of o`;
}

/** All payments of these orders, oldest first. While the orders are locked, only a refund or the sweep changes them. */
export async function selectPaymentsOf(tx: Transaction, orderIds: readonly number[]): Promise<Payment[]> {
  return tx<Payment[]>`
    select ${columns(tx)}, p.status from orders.payments p
    where p.order_id = any(${[...orderIds]}::bigint[]) order by p.id`;
}

export type NewPayment = Omit<Payment, 'id' | 'pay_action' | 'action_until'> & { method: string };

export function insertPayments(tx: Transaction, payments: readonly NewPayment[]): Statement {
  return tx`
    insert into orders.payments (order_id, payment_no, provider, method, amount, currency, status, trade_no, origin_id,
      return_url, channel, paid_at, created_at, updated_at)
    select order_id, payment_no, provider, method, amount, currency, status, trade_no, origin_id, return_url, channel, paid_at,
      created_at, created_at
    from json_to_recordset(${JSON.stringify(payments)}::text::json) as p (order_id bigint, payment_no text, provider text,
      method text, amount bigint, currency text, status text, trade_no text, origin_id bigint, return_url text,
      channel text, paid_at timestamptz, created_at timestamptz)`;
}

/** Closes these payments, if they are pending. */
export function closePayments(tx: Transaction, ids: readonly number[], now: Date): Statement {
  return tx`
    update orders.payments set status = 'closed', updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and status = 'pending'`;
}

/** Stores what the provider answered when these payments were opened there. */
export function setPayActions(
  tx: Transaction,
  actions: readonly { payment_no: string; pay_action: StoredAction; action_until: Date | null }[],
  now: Date,
): Statement {
  return tx`
    update orders.payments p set pay_action = a.pay_action, action_until = a.action_until, updated_at = ${now}
    from json_to_recordset(${JSON.stringify(actions)}::text::json)
      as a (payment_no text, pay_action jsonb, action_until timestamptz)
    where p.payment_no = a.payment_no and p.status = 'pending'`;
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

/** Updates payments after a notice. The statement fails when one of them has received its money already. */
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
    select runtime.must(count(*) = ${moves.length}, 'a payment changed its status while its order was locked') from moved`;
}

/**
 * The payment with its status as it is answered. A pending payment is answered as `closed` when its order is not pending
 * payment (1) any more or has expired. The sweep updates the row later.
 */
const ofOrder = (sql: Queryable, now: Date) => sql`
  ${columns(sql)}, o.order_no, o.status as order_status, o.expires_at,
  case when p.status = 'pending' and (o.status <> 1 or o.expires_at <= ${now}) then 'closed' else p.status end as status,
  case when p.status = 'refunded' then
    (select max(r.finished_at) from orders.refunds r where r.payment_id = p.id and r.status = 'succeeded') end as refunded_at
  from orders.payments p join orders.orders o on o.id = p.order_id`;

/** One payment by its number, of this shopper. With `userId` null (development cashier) the payment of any shopper. */
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

/** One payment of an order: the succeeded one, else a pending one, else the latest. */
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

/** The data of a notice, for the development tools. The payment is found by its number, or is the latest of an order. */
export async function selectPaymentForNotice(
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

/**
 * Closes pending payments of orders that are not pending payment (1) any more. Returns the numbers of those that were opened at
 * their provider.
 */
export async function closeIdlePayments(tx: Transaction, now: Date, limit: number): Promise<string[]> {
  const closed = await tx<{ payment_no: string; is_begun: boolean }[]>`
    update orders.payments p set status = 'closed', updated_at = ${now}
    where p.status = 'pending' and p.id in (
      select q.id from orders.payments q join orders.orders o on o.id = q.order_id
      where q.status = 'pending' and o.status <> 1
      -- skip locked: a notice is being processed, and it updates the payment
      order by q.id limit ${limit} for update of q skip locked)
    returning p.payment_no, p.pay_action is not null as is_begun`;
  return closed.filter(({ is_begun }) => is_begun).map(({ payment_no }) => payment_no);
}
