import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { MovedOrder } from '../orders/order-store.ts';

/** The condition on a payment `p` that paid its order: it succeeded, and after-sales may have refunded all of it since. */
const paidItsOrder = (sql: Queryable) => sql`
  (p.status = 'succeeded' or (p.status = 'refunded' and exists (
    select from orders.refunds s where s.payment_id = p.id and s.kind = 'after_sale')))`;

export async function lockOrders(tx: Transaction, orderIds: readonly number[]): Promise<MovedOrder[]> {
  return tx<MovedOrder[]>`
    select id, order_no, user_id, total_amount from orders.orders
    where id = any(${[...orderIds]}::bigint[]) order by id for no key update`;
}

export type PaidPayment = {
  id: number;
  order_id: number;
  provider: string;
  amount: number;
  currency: string;
  /** Paid without a provider that moves money. */
  is_instant: boolean;
};

/** Locks the payments that paid these orders. The orders are locked. */
export async function lockPaidPayments(tx: Transaction, orderIds: readonly number[]): Promise<PaidPayment[]> {
  return tx<PaidPayment[]>`
    select p.id, p.order_id, p.provider, p.amount, p.currency, p.payment_no is null as is_instant
    from orders.payments p
    where p.order_id = any(${[...orderIds]}::bigint[]) and ${paidItsOrder(tx)} order by p.id for no key update of p`;
}

export type KnownRefund = { refund_no: string; payment_id: number; reason: string; amount: number };

/** All refunds of these orders, and the refunds with these numbers. Call it in a later statement than the lock of the orders. */
export async function selectKnownRefunds(
  tx: Transaction,
  orderIds: readonly number[],
  refundNos: readonly string[],
): Promise<KnownRefund[]> {
  return tx<KnownRefund[]>`
    select refund_no, payment_id, reason, amount from orders.refunds where order_id = any(${[...orderIds]}::bigint[])
    union
    select refund_no, payment_id, reason, amount from orders.refunds where refund_no = any(${[...refundNos]}::text[])`;
}

export type NewOrderRefund = KnownRefund & {
  order_id: number;
  provider: string;
  currency: string;
  status: 'pending' | 'succeeded';
};

/**
 * Inserts refunds of after-sales and returns their numbers. A number that another transaction has taken is left out. The rows are
 * in the order of their numbers, so that two transactions do not deadlock.
 */
export async function insertOrderRefunds(
  tx: Transaction,
  refunds: readonly NewOrderRefund[],
  now: Date,
): Promise<string[]> {
  const rows = await tx<{ refund_no: string }[]>`
    insert into orders.refunds (refund_no, payment_id, order_id, provider, kind, reason, amount, currency, status, created_at,
      updated_at, finished_at)
    select refund_no, payment_id, order_id, provider, 'after_sale', reason, amount, currency, status, ${now}, ${now},
      case when status = 'succeeded' then ${now}::timestamptz end
    from json_to_recordset(${JSON.stringify(refunds)}::text::json) as r (refund_no text, payment_id bigint, order_id bigint,
      provider text, reason text, amount bigint, currency text, status text)
    order by refund_no
    on conflict (refund_no) do nothing
    returning refund_no`;
  return rows.map((row) => row.refund_no);
}

/** Marks payments as refunded whose refunds have returned their whole amount. Their rows are locked. */
export const markRefundedPayments = (tx: Transaction, paymentIds: readonly number[], now: Date): Statement => tx`
  update orders.payments p set status = 'refunded', updated_at = ${now}
  where p.id = any(${[...paymentIds]}::bigint[]) and p.status in ('succeeded', 'refunding')
    and p.amount = (select sum(r.amount) from orders.refunds r where r.payment_id = p.id and r.status = 'succeeded')`;

export type Refundable = { paid: number; refunded: number };

/**
 * What was paid for each of these orders and how much of it was refunded, in minor units. Refunds that are pending or have failed
 * count too, because they will be repeated. Both are 0 for an order that is not paid.
 */
export async function selectRefundable(sql: Queryable, orderIds: readonly number[]): Promise<Map<number, Refundable>> {
  const rows = await sql<(Refundable & { order_id: number })[]>`
    select p.order_id, p.amount as paid,
      (select coalesce(sum(r.amount), 0)::bigint from orders.refunds r where r.payment_id = p.id) as refunded
    from orders.payments p where p.order_id = any(${[...orderIds]}::bigint[]) and ${paidItsOrder(sql)}`;
  const paid = new Map(rows.map((row) => [row.order_id, row]));
  return new Map(
    orderIds.map((id) => {
      const { paid: amount = 0, refunded = 0 } = paid.get(id) ?? {};
      return [id, { paid: amount, refunded }];
    }),
  );
}
