import type { Audit } from '@tradepost/runtime';
import { refundTask } from '../payments/refund-payments.ts';
import { isOwn, sweepGrace, wasPaid } from './audit-conditions.ts';

/** Paid orders that were cancelled because their group failed. */
export const cancelledAudits: readonly Audit[] = [
  {
    name: 'orders.cancelled_restocked',
    about:
      'the goods of an order whose group failed came back into stock, each piece once; those of no other order did so',
    query: (sql) => sql`
      select order_id, sku_id, sum(sold)::bigint as sold, sum(restocked)::bigint as restocked
      from (select i.order_id, i.sku_id, i.qty as sold, 0 as restocked
            from orders.order_history h join orders.order_items i on i.order_id = h.order_id
            where h.trigger = 'group_failed'
            union all
            select o.id, r.sku_id, 0, r.qty
            from inventory.restored_stock r join orders.orders o on o.order_no = r.biz_no) as both_sides
      group by order_id, sku_id having sum(sold) <> sum(restocked)`,
  },
  {
    name: 'orders.cancelled_refunded',
    about: 'an order whose group failed is refunded in full',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.total_amount, coalesce(r.amount, 0) as refunds
      from orders.orders o
      left join (select order_id, sum(amount)::bigint as amount from orders.refunds group by order_id) as r on r.order_id = o.id
      where o.status = 6 and o.id in (select order_id from orders.order_history where trigger = 'group_failed')
        and o.total_amount > coalesce(r.amount, 0)`,
  },
];

export const paymentAudits: readonly Audit[] = [
  {
    name: 'orders.payments',
    about: 'a paid order has exactly one payment that paid it, of its total; other orders have none',
    query: (sql) => sql`
      select o.id as order_id, o.order_no, o.status, o.total_amount, coalesce(p.payments, 0) as payments, p.amount
      from orders.orders o
      left join (select order_id, count(*) as payments, sum(amount)::bigint as amount from orders.payments
                 -- A payment that after-sales refunded in full has also paid its order.
                 where status = 'succeeded' or id in (select payment_id from orders.refunds where kind = 'after_sale')
                 group by order_id) as p on p.order_id = o.id
      where case when ${wasPaid(sql)} and ${isOwn(sql)} then coalesce(p.payments, 0) <> 1 or p.amount <> o.total_amount
                 else p.payments > 0 end`,
  },
  {
    name: 'orders.refunds',
    about:
      'a surplus payment is refunded in full by one refund in the matching state; the payment of an order has only refunds of after-sales, up to its amount, and is refunded when they have returned all of it; other payments have no refund',
    query: (sql) => sql`
      select p.id as payment_id, p.payment_no, p.order_id, p.status, p.amount, r.amount as refunds, r.done
      from orders.payments p
      full join (select payment_id, sum(amount)::bigint as amount, bool_or(kind = 'surplus') as surplus,
                        coalesce(sum(amount) filter (where status = 'succeeded'), 0)::bigint as done
                 from orders.refunds group by payment_id) as r on r.payment_id = p.id
      where case p.status
        when 'refunding' then r.amount is distinct from p.amount or not r.surplus or r.done = p.amount
        when 'refunded' then r.amount is distinct from p.amount or r.done <> p.amount
        when 'succeeded' then r.surplus or r.amount > p.amount or r.done = p.amount
        else r.payment_id is not null end`,
  },
  {
    name: 'orders.refund_amounts',
    about: 'the refunds of an order are at most the money that it has received',
    query: (sql) => sql`
      select r.order_id, r.amount as refunds, coalesce(p.amount, 0) as payments
      from (select order_id, sum(amount)::bigint as amount from orders.refunds where order_id is not null group by order_id) as r
      left join (select order_id, sum(amount)::bigint as amount from orders.payments where paid_at is not null
                 group by order_id) as p using (order_id)
      where r.amount > coalesce(p.amount, 0)`,
  },
  {
    name: 'orders.refunds_forgotten',
    pendingWork: true,
    about: `no refund has been pending for ${sweepGrace} without a job; a violation means that the sweep of the worker does not run`,
    query: (sql, now) => sql`
      select r.id as refund_id, r.refund_no, r.order_id, r.amount, r.attempts, r.updated_at
      from orders.refunds r
      left join graphile_worker.jobs j on j.key = ${`${refundTask}:`} || r.refund_no and j.attempts < j.max_attempts
      where r.status = 'pending' and j.id is null and r.updated_at < ${now} - ${sweepGrace}::interval`,
  },
  {
    name: 'orders.refunds_failed',
    pendingWork: true,
    about:
      'no refund has failed; the money of a failed refund is owed: list with `tradepost pay refunds`, repeat with `tradepost pay retry-refund`',
    query: (sql) => sql`
      select id as refund_id, refund_no, order_id, amount, attempts, left(last_error, 200) as last_error, finished_at
      from orders.refunds where status = 'failed'`,
  },
  {
    name: 'orders.payment_orphans',
    about: 'every payment belongs to an order, or to a subject of another package, which has an audit of its own',
    query: (sql) => sql`
      select p.id as payment_id, p.order_id, p.amount, p.status from orders.payments p
      where p.subject is null and not exists (select from orders.orders o where o.id = p.order_id)`,
  },
];
