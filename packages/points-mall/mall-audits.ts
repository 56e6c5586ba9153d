import type { Audit } from '@tradepost/runtime';

export const mallAudits: readonly Audit[] = [
  {
    name: 'points_mall.sold_count',
    about: 'the sold_count of a product is the quantity of its exchanges that are not cancelled',
    query: (sql) => sql`
      select p.id as product_id, p.sold_count, coalesce(e.qty, 0) as exchanged
      from points_mall.products p
      left join (select product_id, sum(qty) as qty from points_mall.exchanges where status <> 'canceled' group by product_id) as e
        on e.product_id = p.id
      where p.sold_count <> coalesce(e.qty, 0)`,
  },
  {
    name: 'points_mall.stock',
    about: 'no product was exchanged more often than its stock allowed',
    query: (sql) => sql`
      select id as product_id, sold_count, stock_limit from points_mall.products where sold_count > stock_limit`,
  },
  {
    name: 'points_mall.points',
    about: 'each exchange has its points in the ledger, returned when it was cancelled, and the ledger has no others',
    query: (sql) => sql`
      select e.id as exchange_id, e.user_id, e.status, e.points_cost, taken.points as taken, returned.points as returned
      from points_mall.exchanges e
      left join points.logs taken on taken.cause = 'points_mall:' || e.id
      left join points.logs returned on returned.cause = 'points_mall:' || e.id || ':canceled'
      where taken.points is distinct from -e.points_cost or taken.user_id <> e.user_id or taken.type <> 3
         or returned.points is distinct from case when e.status = 'canceled' then e.points_cost end
         or returned.user_id <> e.user_id or returned.type <> 3
      union all
      select l.related_id, l.user_id, null, null, case when l.points < 0 then l.points end, case when l.points > 0 then l.points end
      from points.logs l left join points_mall.exchanges e on e.id = l.related_id
      where l.type = 3 and (e.id is null or l.cause not in ('points_mall:' || e.id, 'points_mall:' || e.id || ':canceled'))`,
  },
  {
    name: 'points_mall.limits',
    about: 'no exchange took a shopper above the limits that its product had, in all or for the day',
    query: (sql) => sql`
      select id as exchange_id, user_id, product_id, in_all, limit_per_user, on_day, limit_per_day
      from (
        select id, user_id, product_id, limit_per_user, limit_per_day,
               sum(qty) over (partition by product_id, user_id order by id) as in_all,
               sum(qty) over (partition by product_id, user_id, day order by id) as on_day
        from points_mall.exchanges where status <> 'canceled') as e
      where (limit_per_user > 0 and in_all > limit_per_user) or (limit_per_day > 0 and on_day > limit_per_day)`,
  },
  {
    name: 'points_mall.kinds',
    about: 'an exchange of a coupon has a coupon for each piece, and what needs no shipment was completed at once',
    query: (sql) => sql`
      select id as exchange_id, product_type, status, qty, coupon_user_ids from points_mall.exchanges
      where cardinality(coupon_user_ids) <> case when product_type = 'coupon' then qty else 0 end
         or (product_type <> 'physical' and (status <> 'completed' or completed_at <> created_at))`,
  },
];
