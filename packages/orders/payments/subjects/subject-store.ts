import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs } from '@tradepost/runtime';
import type { Money, NewMoney } from '../payment-rules.ts';
import type { NoticeNumbers } from '../payment-store.ts';
import { checkJob } from '../provider-calls/check-payment.ts';
import type { SubjectPayment } from './payment-subject.ts';

const columns = (sql: Queryable) => sql`
  p.id, p.order_id, p.subject, p.subject_id, p.payment_no, p.provider, p.amount, p.currency, p.status, p.trade_no, p.origin_id,
  p.return_url, p.channel, p.pay_action, p.action_until, p.paid_at, p.created_at`;

/** The subjects of payments with one of these payment numbers or trade numbers. */
export async function selectSubjectsOf(
  tx: Transaction,
  names: readonly NoticeNumbers[],
): Promise<{ subject: string; subject_id: number }[]> {
  return tx<{ subject: string; subject_id: number }[]>`
    with named as materialized (
      select * from unnest(${names.map((n) => n.payment_no)}::text[], ${names.map((n) => n.provider)}::text[],
                           ${names.map((n) => n.trade_no)}::text[]) as n (payment_no, provider, trade_no)
    )
    select p.subject, p.subject_id from named n join orders.payments p on p.payment_no = n.payment_no
    where p.subject is not null
    union
    select p.subject, p.subject_id from named n join orders.payments p on p.provider = n.provider and p.trade_no = n.trade_no
    where p.subject is not null`;
}

/** All payments of locked subjects, oldest first. */
export async function selectSubjectPayments(
  tx: Transaction,
  of: readonly { subject: string; subject_id: number }[],
): Promise<Money[]> {
  return tx<Money[]>`
    select ${columns(tx)}
    from unnest(${of.map((o) => o.subject)}::text[], ${of.map((o) => o.subject_id)}::bigint[]) as o (subject, subject_id)
    join orders.payments p on p.subject = o.subject and p.subject_id = o.subject_id order by p.id`;
}

/** Inserts payments of subjects. `expires_at` is that of a payment which waits for money. */
export const insertSubjectPayments = (
  tx: Transaction,
  payments: readonly (NewMoney & { expires_at?: Date })[],
): Statement => tx`
  insert into orders.payments (subject, subject_id, payment_no, provider, method, amount, currency, status, trade_no, origin_id,
    channel, expires_at, paid_at, created_at, updated_at)
  select subject, subject_id, payment_no, provider, '', amount, currency, status, trade_no, origin_id, channel, expires_at,
    paid_at, created_at, created_at
  from json_to_recordset(${JSON.stringify(payments)}::text::json) as p (subject text, subject_id bigint, payment_no text,
    provider text, amount bigint, currency text, status text, trade_no text, origin_id bigint, channel text, expires_at timestamptz,
    paid_at timestamptz, created_at timestamptz)`;

/** The open payment of a locked subject with this provider and amount. */
export async function selectOpenPayment(
  tx: Transaction,
  of: { subject: string; id: number; provider: string; amount: number; currency: string },
): Promise<SubjectPayment | undefined> {
  const [row] = await tx<SubjectPayment[]>`
    select payment_no, provider, amount, currency from orders.payments
    where subject = ${of.subject} and subject_id = ${of.id} and status = 'pending' and provider = ${of.provider}
      and amount = ${of.amount} and currency = ${of.currency}
    order by id desc limit 1`;
  return row;
}

/** Closes the open payments of locked subjects, and enqueues jobs that close them at their provider. */
export async function closeSubjectPayments(
  tx: Transaction,
  subject: string,
  ids: readonly number[],
  now: Date,
): Promise<void> {
  const closed = await tx<{ payment_no: string; is_begun: boolean }[]>`
    update orders.payments set status = 'closed', updated_at = ${now}
    where subject = ${subject} and subject_id = any(${[...ids]}::bigint[]) and status = 'pending'
    returning payment_no, pay_action is not null as is_begun`;
  const begun = closed.filter(({ is_begun }) => is_begun).map(({ payment_no }) => checkJob(payment_no));
  if (begun.length > 0) await enqueueJobs(tx, begun);
}

/** The payment of a subject, for the development cashier. */
export async function selectSubjectPayment(sql: Sql, paymentNo: string): Promise<Money | undefined> {
  const [row] = await sql<Money[]>`
    select ${columns(sql)} from orders.payments p where p.payment_no = ${paymentNo} and p.subject is not null`;
  return row;
}
