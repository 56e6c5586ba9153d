import type { Sql } from '@tradepost/postgres';

/** A payment or a refund of the shop, as it is compared. */
export type OurRecord = {
  id: number;
  kind: 'payment' | 'refund';
  payment_no: string;
  refund_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  /** The status in the terms of the provider: a payment that was refunded was paid. */
  status: 'succeeded' | 'pending' | 'failed';
  provider_ref: string;
};
export type Period = { from: Date; to: Date };
type Position = { at: Date; id: number };

const paymentColumns = (sql: Sql) => sql`
  p.id, 'payment' as kind, p.payment_no, '' as refund_no, coalesce(p.trade_no, '') as trade_no, p.amount, p.currency,
  case when p.status in ('succeeded', 'refunding', 'refunded') then 'succeeded' when p.status = 'pending' then 'pending'
    else 'failed' end as status,
  coalesce(p.pay_action->>'provider_ref', '') as provider_ref`;
const refundColumns = (sql: Sql) => sql`
  r.id, 'refund' as kind, p.payment_no, r.refund_no, coalesce(p.trade_no, '') as trade_no, r.amount, r.currency, r.status,
  coalesce(p.pay_action->>'provider_ref', '') as provider_ref`;

/** The payments of a provider with one of these numbers. */
export const selectPaymentsNamed = (
  sql: Sql,
  provider: string,
  names: { payment_nos: readonly string[]; trade_nos: readonly string[] },
) => sql<OurRecord[]>`
  select ${paymentColumns(sql)} from orders.payments p
  where p.provider = ${provider} and p.payment_no = any(${[...names.payment_nos]}::text[])
  union
  select ${paymentColumns(sql)} from orders.payments p
  where p.provider = ${provider} and p.trade_no = any(${[...names.trade_nos]}::text[])`;

/** The refunds of a provider with these numbers. */
export const selectRefundsNamed = (sql: Sql, provider: string, refundNos: readonly string[]) => sql<OurRecord[]>`
  select ${refundColumns(sql)} from orders.refunds r join orders.payments p on p.id = r.payment_id
  where r.provider = ${provider} and r.refund_no = any(${[...refundNos]}::text[])`;

/** A page of what a provider paid in a period, after a position. */
export const selectPaidPage = (sql: Sql, provider: string, { from, to }: Period, after: Position, limit: number) => sql<
  (OurRecord & { at: Date })[]
>`
  select ${paymentColumns(sql)}, p.paid_at as at from orders.payments p
  where p.provider = ${provider} and p.payment_no is not null and p.paid_at >= ${from} and p.paid_at < ${to}
    and (p.paid_at, p.id) > (${after.at}, ${after.id})
  order by p.paid_at, p.id limit ${limit}`;

/** A page of the refunds that a provider made in a period, after a position. */
export const selectRefundedPage = (
  sql: Sql,
  provider: string,
  { from, to }: Period,
  after: Position,
  limit: number,
) => sql<(OurRecord & { at: Date })[]>`
  select ${refundColumns(sql)}, r.finished_at as at from orders.refunds r join orders.payments p on p.id = r.payment_id
  where r.provider = ${provider} and r.provider <> 'instant' and r.status = 'succeeded'
    and r.finished_at >= ${from} and r.finished_at < ${to} and (r.finished_at, r.id) > (${after.at}, ${after.id})
  order by r.finished_at, r.id limit ${limit}`;
