import type { Sql } from '@tradepost/postgres';
import { orderFacts, startOf } from '../days/order-facts.ts';
import { firstDayOf, type Period } from '../days/window-store.ts';

/** The buyers of a period: shoppers with at least one sold order in it. */
export type Buyers = {
  /** Buyers with 1, 2, 3, and 4 or more sold orders. */
  frequency: number[];
  /** Those without a sold order before the period. */
  new_buyers: number;
  /** The days from the last sold order of each buyer to today, added up. */
  age_days: number;
};

/**
 * Adds the buyers of the orders that are counted in the tables to the stored sums. A buyer who is in both moves from one class to
 * another.
 */
export async function selectBuyers(sql: Sql, period: Period, isStored: boolean): Promise<Buyers> {
  const { zone, days, today } = period;
  const first = firstDayOf(period);
  const [row] = await sql<Buyers[]>`
    with ${orderFacts(sql, { zone, from: isStored ? today : first, to: today })}, live as materialized (
      select user_id, count(*)::int as orders, max(local)::date as last_day from facts where is_sold and user_id > 0
      group by user_id
    ), joined as (
      select l.user_id, coalesce(w.orders, 0) as before, coalesce(w.orders, 0) + l.orders as after, ${today}::date - l.last_day as age,
             coalesce(${today}::date - w.last_day, 0) as age_before,
             w.user_id is null and not exists (
               select from orders.order_facts e where e.user_id = l.user_id and e.status between 2 and 5
                 and e.created_at < ${startOf(sql, first, zone)}) as is_new
      from live l left join analytics.window_buyers w on w.days = ${isStored ? days : 0} and w.user_id = l.user_id
    ), stored as (
      select frequency, new_buyers, age_days + frequency[1] + frequency[2] + frequency[3] + frequency[4] as age_days
      from analytics.windows where days = ${isStored ? days : 0}
    ), moved as (
      select count(*) filter (where after = 1) - count(*) filter (where before = 1) as one,
             count(*) filter (where after = 2) - count(*) filter (where before = 2) as two,
             count(*) filter (where after = 3) - count(*) filter (where before = 3) as three,
             count(*) filter (where after >= 4) - count(*) filter (where before >= 4) as more,
             count(*) filter (where is_new) as new_buyers, coalesce(sum(age - age_before), 0) as age_days
      from joined
    )
    select array[coalesce(frequency[1], 0) + one, coalesce(frequency[2], 0) + two, coalesce(frequency[3], 0) + three,
                 coalesce(frequency[4], 0) + more]::int[] as frequency,
           (coalesce(s.new_buyers, 0) + m.new_buyers)::int as new_buyers,
           (coalesce(s.age_days, 0) + m.age_days)::bigint as age_days
    from moved m left join stored s on true`;
  return row!;
}
