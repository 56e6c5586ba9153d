import type { Audit } from '@tradepost/runtime';

export const vipAudits: readonly Audit[] = [
  {
    name: 'vip.growth',
    about: 'the growth of a shopper is the sum of the growth log',
    query: (sql) => sql`
      select coalesce(a.user_id, g.user_id) as user_id, a.growth_value, g.growth
      from vip.assets a
      full join (select user_id, sum(growth_delta)::bigint as growth from vip.growth_logs group by user_id) as g
        on g.user_id = a.user_id
      where coalesce(a.growth_value, 0) <> coalesce(g.growth, 0) or a.user_id is null`,
  },
  {
    name: 'vip.growth_steps',
    about: 'each row of the growth log has the balance that the rows up to it give',
    query: (sql) => sql`
      select id as log_id, user_id, balance_after, balance
      from (select id, user_id, balance_after, sum(growth_delta) over (partition by user_id order by id)::bigint as balance
            from vip.growth_logs) as l
      where balance_after <> balance`,
  },
  {
    name: 'vip.growth_orders',
    about: 'growth for a payment is of an order of the shopper, and at most its amount',
    query: (sql) => sql`
      select g.id as log_id, g.user_id, g.order_id, g.growth_delta, o.user_id as buyer, o.total_amount
      from vip.growth_logs g left join orders.orders o on o.id = g.order_id
      where g.event_type = 'order_paid'
        and (o.id is null or o.user_id <> g.user_id or g.growth_delta > o.total_amount / 100)`,
  },
  {
    name: 'vip.assets',
    about: 'a shopper has at most one membership, and only an existing account has one',
    // The dispatcher deletes the membership within seconds after the account.
    query: (sql, now) => sql`
      select a.user_id, count(*) as memberships, max(s.deleted_at) as deleted_at
      from vip.assets a left join identity.shoppers s on s.id = a.user_id
      group by a.user_id, s.id having count(*) > 1 or s.id is null or max(s.deleted_at) < ${now} - interval '1 hour'`,
  },
  {
    name: 'vip.months',
    about: 'a membership has the months of the paid purchases of its shopper, and ends with the last of them',
    query: (sql) => sql`
      select coalesce(a.user_id, p.user_id) as user_id, a.months, p.months as paid, a.vip_end_at, p.ends_at
      from vip.assets a
      full join (
        select user_id, sum(months)::int as months, max(ends_at) as ends_at from vip.purchases
        -- Purchases of deleted accounts stay, without their membership.
        where status = 'paid' and user_id in (select id from identity.shoppers where deleted_at is null)
        group by user_id) as p on p.user_id = a.user_id
      where coalesce(a.months, 0) <> coalesce(p.months, 0) or a.vip_end_at is distinct from p.ends_at`,
  },
  {
    name: 'vip.payments',
    about:
      'a purchase is paid when one payment of its amount succeeded, unless it was free or paid without money; no other payment has succeeded',
    query: (sql) => sql`
      select coalesce(p.id, m.subject_id) as purchase_id, p.status, p.provider, p.amount, m.succeeded, m.amount as paid
      from vip.purchases p
      full join (
        select subject_id, count(*) filter (where status = 'succeeded') as succeeded,
               sum(amount) filter (where status = 'succeeded')::bigint as amount
        from orders.payments where subject = 'vip.purchase' group by subject_id) as m on m.subject_id = p.id
      where p.id is null
         or (p.status = 'paid' and p.provider not in ('free', 'instant')) <> (coalesce(m.succeeded, 0) = 1)
         or coalesce(m.succeeded, 0) > 1 or m.amount <> p.amount`,
  },
  {
    name: 'vip.claims',
    about: 'each claim of a monthly coupon gave one coupon, and the claims of a month are within the quota',
    query: (sql) => sql`
      select user_id, rule_id, month, claimed, quota, cardinality(user_coupon_ids) as coupons from vip.monthly_claims
      where claimed <> cardinality(user_coupon_ids) or claimed > quota`,
  },
];
