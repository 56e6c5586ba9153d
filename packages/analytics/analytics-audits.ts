import type { Audit } from '@tradepost/runtime';

export const analyticsAudits: readonly Audit[] = [
  {
    name: 'analytics.days',
    about: 'the stored numbers of past days (the newest seven, and seven others) are those of their orders',
    // Offsets such as +08:00 mean the opposite in PostgreSQL, so days of such a zone are left out. Days with changes that are on
    // their way are counted again later.
    query: (sql, now) => sql`
      with known as (
        select d.*, row_number() over (order by day desc) as age, row_number() over (order by md5(day::text || (${now})::date)) as lot
        from analytics.order_days d where zone !~ '^[+-]'
      ), sample as (
        select k.*, k.day::timestamp at time zone zone as day_start, (k.day + 1)::timestamp at time zone zone as day_end
        from known k where age <= 7 or lot <= 7
      ), changed as (
        select hour from analytics.changed_hours
        union all
        select date_trunc('hour', o.created_at) from runtime.outbox e
        join orders.orders o on o.id = (e.data ->> 'order_id')::bigint
        where e.dispatched_at is null and e.name like 'order.%'
      )
      select s.day, s.orders, f.orders as orders_found, s.sold_orders, f.sold_orders as sold_found, s.sales,
             f.sales as sales_found
      from sample s
      cross join lateral (
        select min(first_id) as first_id, max(end_id) as end_id from orders.order_spans b
        where b.last_at >= s.day_start and b.first_at < s.day_end
      ) as span
      cross join lateral (
        select count(*) as orders, count(*) filter (where status between 2 and 5) as sold_orders,
               coalesce(sum(total_amount) filter (where status between 2 and 5), 0) as sales
        from orders.orders o
        where o.id >= span.first_id and o.id < span.end_id and o.created_at >= s.day_start and o.created_at < s.day_end
      ) as f
      where (s.orders, s.sold_orders, s.sales) is distinct from (f.orders, f.sold_orders, f.sales)
        and not exists (
          select from changed c where c.hour > s.day_start - interval '1 hour' and c.hour < s.day_end)`,
  },
  {
    name: 'analytics.buyers',
    about: 'the classes of buyers of a period have all its buyers',
    query: (sql) => sql`
      select w.days, w.frequency, count(b.user_id) as buyers
      from analytics.windows w left join analytics.window_buyers b using (days)
      group by w.days, w.frequency
      having count(b.user_id) <> w.frequency[1] + w.frequency[2] + w.frequency[3] + w.frequency[4]`,
  },
  {
    name: 'analytics.sums',
    about: 'the sums of products and of categories of a period are those of its SKUs',
    query: (sql) => sql`
      select days, sums.skus, sums.products, sums.categories
      from analytics.windows w cross join lateral (
        select (select coalesce(sum(qty), 0) from analytics.window_skus s where s.days = w.days) as skus,
               (select coalesce(sum(qty), 0) from analytics.window_products p where p.days = w.days) as products,
               (select coalesce(sum(qty), 0) from analytics.window_categories c where c.days = w.days) as categories
      ) as sums
      where sums.skus <> sums.products or sums.skus <> sums.categories`,
  },
  {
    name: 'analytics.visitors',
    about: 'each visitor of a day has one channel and one device, and bounces are visitors',
    query: (sql) => sql`
      select * from (
        select day, coalesce(sum(n) filter (where counter = 'visitors'), 0) as visitors,
               coalesce(sum(n) filter (where counter like 'channel:%'), 0) as channels,
               coalesce(sum(n) filter (where counter like 'device:%'), 0) as devices,
               coalesce(sum(n) filter (where counter = 'bounces'), 0) as bounces
        from analytics.visit_counts group by day
      ) as d
      where visitors <> channels or visitors <> devices or bounces not between 0 and visitors`,
  },
];
