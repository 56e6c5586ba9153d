import { type Sql, type Statement, type Transaction, writeTransaction } from '@tradepost/postgres';
import { hasOpenJob } from '@tradepost/runtime';
import { type OrderFacts, orderRefunded, recordOrders } from '../order-events.ts';
import { markRefundedPayments } from './order-refund-store.ts';
import type { RefundRequest } from './providers/provider.ts';

export type NewRefund = {
  refund_no: string;
  payment_no: string;
  /** Null for the payment of a subject. */
  order_id: number | null;
  provider: string;
  reason: string;
  amount: number;
  currency: string;
};

/** Inserts refunds. The statement fails when a payment is missing or is not `refunding`, so nothing is committed. */
export function insertRefunds(tx: Transaction, refunds: readonly NewRefund[], now: Date): Statement {
  return tx`
    with added as (
      insert into orders.refunds (refund_no, payment_id, order_id, provider, reason, amount, currency, created_at, updated_at)
      select r.refund_no, p.id, r.order_id, r.provider, r.reason, r.amount, r.currency, ${now}, ${now}
      from json_to_recordset(${JSON.stringify(refunds)}::text::json) as r (refund_no text, payment_no text, order_id bigint,
        provider text, reason text, amount bigint, currency text)
      join orders.payments p on p.payment_no = r.payment_no and p.status = 'refunding'
      returning 1
    )
    select runtime.must(count(*) = ${refunds.length}, 'a refund without its payment') from added`;
}

export type OpenRefund = RefundRequest & { provider: string; attempts: number };

/** Counts an attempt of a pending refund and returns the refund. Undefined when it is not pending. */
export async function beginRefund(sql: Sql, refundNo: string, now: Date): Promise<OpenRefund | undefined> {
  const [row] = await sql<OpenRefund[]>`
    update orders.refunds r set attempts = r.attempts + 1, updated_at = ${now}, check_at = null
    from orders.payments p
    where r.refund_no = ${refundNo} and r.status = 'pending' and p.id = r.payment_id
    returning r.refund_no, r.provider, r.reason, r.amount, r.currency, r.attempts, p.payment_no, p.trade_no,
      p.amount as payment_amount`;
  return row;
}

/**
 * Records that the refund succeeded. The payment is refunded when its refunds have returned its whole amount. A repeated call
 * changes nothing.
 */
export async function finishRefund(sql: Sql, refundNo: string, providerRef: string, now: Date): Promise<void> {
  await writeTransaction(sql, async (tx) => {
    // The lock is a statement of its own, so that the last one of two refunds that end together sees the other.
    const [payment] = await tx<{ id: number }[]>`
      select p.id from orders.payments p join orders.refunds r on r.payment_id = p.id
      where r.refund_no = ${refundNo} for no key update of p`;
    if (!payment) return { value: undefined, last: [] };
    const refunded = await tx<(OrderFacts & { refund_no: string; amount: number })[]>`
      with done as (
        update orders.refunds set status = 'succeeded', provider_ref = ${providerRef}, last_error = '', updated_at = ${now},
               finished_at = ${now}
        where refund_no = ${refundNo} and status <> 'succeeded'
        returning order_id, refund_no, amount
      )
      -- The payment of a subject has no order, and no event.
      select o.id as order_id, o.order_no, o.user_id, o.total_amount, done.refund_no, done.amount
      from done join orders.orders o on o.id = done.order_id`;
    const events = recordOrders(tx, orderRefunded, refunded, now);
    return { value: undefined, last: [...events, markRefundedPayments(tx, [payment.id], now)] };
  });
}

/** Records that the provider carries out the refund later. It is asked again at `checkAt`, with all attempts. */
export async function recordAcceptedRefund(
  sql: Sql,
  refundNo: string,
  { provider_ref, checkAt }: { provider_ref: string; checkAt: Date },
  now: Date,
): Promise<void> {
  await sql`
    update orders.refunds set provider_ref = ${provider_ref}, check_at = ${checkAt}, attempts = 0, last_error = '',
           updated_at = ${now}
    where refund_no = ${refundNo} and status = 'pending'`;
}

/** One refund of a provider. */
export async function selectRefundOf(
  sql: Sql,
  refundNo: string,
  provider: string,
): Promise<{ amount: number; currency: string; status: string } | undefined> {
  const [row] = await sql<{ amount: number; currency: string; status: string }[]>`
    select amount, currency, status from orders.refunds where refund_no = ${refundNo} and provider = ${provider}`;
  return row;
}

/** Records a failed attempt. With `final` the refund is `failed` until an operator enqueues it again. */
export async function recordRefundError(
  sql: Sql,
  refundNo: string,
  error: string,
  final: boolean,
  now: Date,
): Promise<void> {
  await sql`
    update orders.refunds set last_error = ${error}, updated_at = ${now},
           status = ${final ? 'failed' : 'pending'}, finished_at = ${final ? now : null}
    where refund_no = ${refundNo} and status = 'pending'`;
}

/**
 * Pending refunds without a job, which the provider does not carry out at `now`. A job that was locked before `before` belongs to a
 * dead worker and does not count.
 */
export async function selectRefundsWithoutJob(
  sql: Sql,
  { before, now }: { before: Date; now: Date },
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ refund_no: string }[]>`
    select r.refund_no from orders.refunds r
    where r.status = 'pending' and r.updated_at < ${before} and (r.check_at is null or r.check_at <= ${now})
      and not ${hasOpenJob(sql, sql`'payments.refund:' || r.refund_no`, before)}
    order by r.updated_at limit ${limit}`;
  return rows.map((row) => row.refund_no);
}

/** Sets a failed refund to pending. Returns false when there is no such failed refund. */
export async function reopenRefund(tx: Transaction, refundNo: string, now: Date): Promise<boolean> {
  const rows = await tx`
    update orders.refunds set status = 'pending', attempts = 0, finished_at = null, updated_at = ${now}
    where refund_no = ${refundNo} and status = 'failed' returning 1`;
  return rows.length > 0;
}

/** Refunds whose attempts are used up, or which the provider refused. They wait for an operator. */
export async function countFailedRefunds(sql: Sql): Promise<number> {
  const [row] = await sql<{ failed: number }[]>`
    select count(*)::int as failed from orders.refunds where status = 'failed'`;
  return row!.failed;
}

export type RefundRow = {
  refund_no: string;
  payment_no: string;
  /** Empty for the payment of a subject. */
  order_no: string;
  reason: string;
  amount: number;
  currency: string;
  status: string;
  attempts: number;
  last_error: string;
  created_at: Date;
};

/** The refunds that have not succeeded, oldest first; with `all`, all refunds, newest first. */
export async function selectRefunds(sql: Sql, { all, limit }: { all: boolean; limit: number }): Promise<RefundRow[]> {
  return sql<RefundRow[]>`
    select r.refund_no, coalesce(p.payment_no, 'I' || p.id) as payment_no, coalesce(o.order_no, '') as order_no, r.reason, r.amount,
      r.currency, r.status, r.attempts, r.last_error, r.created_at
    from orders.refunds r join orders.payments p on p.id = r.payment_id left join orders.orders o on o.id = r.order_id
    ${all ? sql`order by r.id desc` : sql`where r.status <> 'succeeded' order by r.id`} limit ${limit}`;
}
