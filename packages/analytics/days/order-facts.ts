import type { Queryable, Statement } from '@tradepost/postgres';
import { type Day, postgresZone } from './shop-days.ts';

/** Days of a time zone, both included. */
export type DayRange = { readonly zone: string; readonly from: Day; readonly to: Day };

/** The first instant of a day. */
export const startOf = (sql: Queryable, day: Day, zone: string): Statement =>
  sql`(${day}::date::timestamp at time zone ${postgresZone(zone)})`;
const endOf = (sql: Queryable, day: Day, zone: string): Statement =>
  sql`((${day}::date + 1)::timestamp at time zone ${postgresZone(zone)})`;

/** Whether an order counts as sold: paid, shipped, completed, or with an open after-sale case. */
const soldStatuses = (sql: Queryable): Statement => sql`status between 2 and 5`;

/**
 * The orders that were created in the range, as the common table expressions `span` and `facts`. The counts of the blocks of ids
 * say where they are, so that no index on their time is needed.
 */
export function orderFacts(sql: Queryable, { zone, from, to }: DayRange): Statement {
  const [start, end] = [startOf(sql, from, zone), endOf(sql, to, zone)];
  return sql`
    span as materialized (
      select min(first_id) as first_id, max(end_id) as end_id from orders.order_spans
      where last_at >= ${start} and first_at < ${end}
    ), facts as (
      select id, user_id, payment_method, total_amount, paid_at, ${soldStatuses(sql)} as is_sold,
             (created_at at time zone ${postgresZone(zone)}) as local
      from orders.order_facts
      where id >= (select first_id from span) and id < (select end_id from span)
        and created_at >= ${start} and created_at < ${end}
    )`;
}

/** One row for each day of the range, also for days without orders. The columns are those of `analytics.order_days`. */
export function selectDayFacts(sql: Queryable, range: DayRange): Statement {
  const { zone, from, to } = range;
  return sql`
    with ${orderFacts(sql, range)}, refunded as (
      select distinct order_id from orders.refund_facts
      where kind = 'after_sale' and status = 'succeeded'
        and order_id >= (select first_id from span) and order_id < (select end_id from span)
    ), days as (
      select local::date as day, count(*) as orders, count(paid_at) as paid_orders,
             count(*) filter (where is_sold) as sold_orders,
             coalesce(sum(total_amount) filter (where is_sold), 0)::bigint as sales, count(r.order_id) as refunded_orders,
             array[count(*) filter (where is_sold and total_amount < 5000),
                   count(*) filter (where is_sold and total_amount >= 5000 and total_amount < 10000),
                   count(*) filter (where is_sold and total_amount >= 10000 and total_amount < 30000),
                   count(*) filter (where is_sold and total_amount >= 30000 and total_amount < 100000),
                   count(*) filter (where is_sold and total_amount >= 100000)] as bands,
             array[count(*) filter (where is_sold and payment_method = 'wechat'),
                   count(*) filter (where is_sold and payment_method = 'alipay'),
                   count(*) filter (where is_sold and payment_method = 'balance')] as methods
      from facts left join refunded r on r.order_id = facts.id
      group by 1
    ), hourly as (
      select local::date as day, extract(hour from local)::int as hour, count(*) as n from facts group by 1, 2
    ), clock as (
      select day, array_agg(coalesce(n, 0) order by hour) as hours
      from (select distinct day from hourly) as d cross join generate_series(0, 23) as h (hour)
      left join hourly using (day, hour)
      group by day
    )
    select ${zone}::text as zone, all_days.day::date as day, coalesce(orders, 0)::int as orders,
           coalesce(paid_orders, 0)::int as paid_orders, coalesce(sold_orders, 0)::int as sold_orders,
           coalesce(sales, 0) as sales, coalesce(refunded_orders, 0)::int as refunded_orders,
           coalesce(hours, array_fill(0, array[24]))::int[] as hours,
           coalesce(bands, array_fill(0, array[5]))::int[] as bands,
           coalesce(methods, array_fill(0, array[3]))::int[] as methods
    from generate_series(${from}::date::timestamp, ${to}::date::timestamp, interval '1 day') as all_days (day)
    left join days on days.day = all_days.day::date left join clock on clock.day = all_days.day::date`;
}
