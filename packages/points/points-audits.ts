import type { Audit } from '@tradepost/runtime';

export const pointsAudits: readonly Audit[] = [
  {
    name: 'points.balances',
    about: 'the points of a shopper are the sum of the rows of the ledger, and are never negative',
    query: (sql) => sql`
      select user_id, a.balance, coalesce(l.points, 0) as sum_of_rows
      from points.accounts a
      full join (select user_id, sum(points)::bigint as points from points.logs group by user_id) as l using (user_id)
      where a.balance is distinct from coalesce(l.points, 0) or a.balance < 0`,
  },
  {
    name: 'points.sums',
    about: 'the sums of points by quarter hour are the sums of the rows of the ledger',
    query: (sql) => sql`
      select bucket, s.issued, s.consumed, l.issued as issued_rows, l.consumed as consumed_rows
      from (select bucket, sum(issued) as issued, sum(consumed) as consumed
            from (select bucket, issued, consumed from points.sums
                  union all select bucket, issued, consumed from points.sum_changes) as both_parts
            group by bucket) as s
      full join (
        select date_bin('15 minutes', created_at, timestamptz '2000-01-01 00:00+00') as bucket,
          coalesce(sum(points) filter (where points > 0), 0) as issued,
          coalesce(-sum(points) filter (where points < 0), 0) as consumed
        from points.logs group by 1) as l using (bucket)
      where s.issued is distinct from l.issued or s.consumed is distinct from l.consumed`,
  },
  {
    name: 'points.order_uses',
    about: 'what an order used and what it returned are its rows of the ledger, and it returned at most what it used',
    query: (sql) => sql`
      select order_id, p.used, p.returned, l.used as used_rows, l.returned as returned_rows
      from points.order_points p
      full join (
        select related_id as order_id, user_id, coalesce(-sum(points) filter (where points < 0), 0) as used,
          coalesce(sum(points) filter (where points > 0), 0) as returned
        from points.logs where type = 2 group by related_id, user_id) as l using (order_id)
      where coalesce(p.used, 0) <> coalesce(l.used, 0) or coalesce(p.returned, 0) <> coalesce(l.returned, 0)
        or p.returned > p.used or (l.user_id is not null and p.user_id <> l.user_id)`,
  },
  {
    name: 'points.order_discounts',
    about: 'an order with a discount by points has used points, and an order that used points is one of its shopper',
    query: (sql) => sql`
      select coalesce(o.id, p.order_id) as order_id, o.order_no, o.user_id, p.user_id as user_of_points, p.used
      from (select id, order_no, user_id from orders.orders where 'points' = any(price_steps)) as o
      full join (select order_id, user_id, used from points.order_points where used > 0) as p on p.order_id = o.id
      where o.id is null or p.order_id is null or o.user_id <> p.user_id`,
  },
  {
    name: 'points.cancelled_orders',
    about: 'a cancelled order has returned all its points',
    // The events of an order that was refunded in full are read within seconds.
    query: (sql, now) => sql`
      select p.order_id, o.order_no, p.used, p.returned
      from points.order_points p join orders.orders o on o.id = p.order_id
      where o.status = 6 and p.returned < p.used and o.updated_at < ${now} - interval '1 hour'`,
  },
  {
    name: 'points.order_earnings',
    about: 'what a completed order earned is in the ledger once, and what refunds took back is not more than that',
    query: (sql) => sql`
      select order_id, p.earned, l.points, l.credits
      from (select order_id, user_id, earned from points.order_points where earned is not null) as p
      full join (
        select related_id as order_id, user_id, sum(points) as points, count(*) filter (where points > 0) as credits
        from points.logs where type = 4 group by related_id, user_id) as l using (order_id)
      where p.order_id is null or l.points < p.earned or l.credits <> 1 or p.user_id <> l.user_id`,
  },
];
