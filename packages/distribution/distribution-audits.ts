import type { Audit } from '@tradepost/runtime';

export const distributionAudits: readonly Audit[] = [
  {
    name: 'distribution.moves',
    about: 'the rows of each move of money add up to 0',
    query: (sql) => sql`
      select move, sum(amount) as difference, count(distinct distributor_id) as distributors
      from distribution.ledger group by move having sum(amount) <> 0 or count(distinct distributor_id) > 1`,
  },
  {
    name: 'distribution.balances',
    about: 'the sums of a distributor are those of the ledger, and none is negative; what is owed is in debt_amount',
    query: (sql) => sql`
      select d.id as distributor_id, d.total_earnings, d.available_amount, d.frozen_amount, d.withdrawn_amount, d.debt_amount,
             l.earnings, l.available, l.frozen, l.withdrawn, l.debt
      from distribution.distributors d
      full join (
        select distributor_id, -coalesce(sum(amount) filter (where account = 'earnings'), 0) as earnings,
               coalesce(sum(amount) filter (where account = 'available'), 0) as available,
               coalesce(sum(amount) filter (where account = 'frozen'), 0) as frozen,
               coalesce(sum(amount) filter (where account = 'withdrawn'), 0) as withdrawn,
               -coalesce(sum(amount) filter (where account = 'debt'), 0) as debt
        from distribution.ledger group by distributor_id) as l on l.distributor_id = d.id
      where d.id is null or least(d.available_amount, d.frozen_amount, d.withdrawn_amount, d.debt_amount) < 0
         or (d.available_amount > 0 and d.debt_amount > 0)
         or (d.total_earnings, d.available_amount, d.frozen_amount, d.withdrawn_amount, d.debt_amount)
            <> (coalesce(l.earnings, 0), coalesce(l.available, 0), coalesce(l.frozen, 0), coalesce(l.withdrawn, 0),
                coalesce(l.debt, 0))`,
  },
  {
    name: 'distribution.settled',
    about:
      'the ledger has the amount of each settled commission, and nothing of others; distributors have the number of them',
    query: (sql) => sql`
      select c.id as commission_id, c.status, c.commission, l.earned, null::bigint as distributor_id
      from distribution.commissions c
      full join (select commission_id, -sum(amount) as earned from distribution.ledger
                 where account = 'earnings' group by commission_id) as l on l.commission_id = c.id
      where c.id is null
         or coalesce(l.earned, 0) <> case when c.status = 'settled' then c.commission else 0 end
      union all
      select null, null, d.total_orders, coalesce(n.settled, 0), d.id
      from distribution.distributors d
      left join (select distributor_id, count(*) as settled from distribution.commissions where status = 'settled'
                 group by distributor_id) as n on n.distributor_id = d.id
      where d.total_orders <> coalesce(n.settled, 0)`,
  },
  {
    name: 'distribution.commissions',
    about:
      'a commission is that of its rate on what was not refunded, its order exists, and its distributor is above the buyer',
    query: (sql) => sql`
      select c.id as commission_id, c.order_id, c.distributor_id, c.commission, c.order_amount, c.refunded_amount, r.refunded
      from distribution.commissions c
      left join orders.orders o on o.id = c.order_id
      left join distribution.distributors d on d.id = c.distributor_id
      left join (select order_id, sum(amount) as refunded from distribution.refunds group by order_id) as r
        on r.order_id = c.order_id
      where o.user_id is distinct from c.buyer_id or d.id is null or d.user_id = c.buyer_id
         or c.refunded_amount <> coalesce(r.refunded, 0)
         or (c.status <> 'cancelled'
             and c.commission <> greatest(c.order_amount - c.refunded_amount, 0) * c.rate / 10000)`,
  },
  {
    name: 'distribution.orders',
    about: 'an unpaid order has no pending or settled commission, and a cancelled order none that is open',
    query: (sql) => sql`
      select c.id as commission_id, c.status, o.id as order_id, o.status as order_status
      from distribution.commissions c join orders.orders o on o.id = c.order_id
      where (o.status = 1 and c.status in ('pending', 'settled'))
         or (o.status = 6 and o.paid_at is null and c.status <> 'cancelled')`,
  },
  {
    name: 'distribution.withdrawals',
    about: 'the ledger has the amount of each withdrawal where its status says',
    query: (sql) => sql`
      select w.id as withdrawal_id, w.status, w.amount, l.frozen, l.withdrawn
      from distribution.withdrawals w
      full join (
        select withdrawal_id, coalesce(sum(amount) filter (where account = 'frozen'), 0) as frozen,
               coalesce(sum(amount) filter (where account = 'withdrawn'), 0) as withdrawn
        from distribution.ledger where withdrawal_id is not null group by withdrawal_id) as l on l.withdrawal_id = w.id
      where w.id is null
         or coalesce(l.frozen, 0) <> case when w.status in ('pending', 'approved') then w.amount else 0 end
         or coalesce(l.withdrawn, 0) <> case when w.status = 'completed' then w.amount else 0 end`,
  },
  {
    name: 'distribution.withdrawal_history',
    about: 'the history of a withdrawal leads to its status, and says who moved it',
    query: (sql) => sql`
      select w.id as withdrawal_id, w.status, h.path
      from distribution.withdrawals w
      left join (select withdrawal_id, string_agg(from_status || '>' || to_status, ' ' order by id) as path,
                        (array_agg(to_status order by id desc))[1] as last
                 from distribution.withdrawal_history group by withdrawal_id) as h on h.withdrawal_id = w.id
      where h.last is distinct from w.status
         or h.path not in ('>pending', '>pending pending>approved', '>pending pending>rejected',
                           '>pending pending>approved approved>rejected', '>pending pending>approved approved>completed')`,
  },
];
