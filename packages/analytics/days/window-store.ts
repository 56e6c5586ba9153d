import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { orderFacts, startOf } from './order-facts.ts';
import { addDays, type Day } from './shop-days.ts';

/** The periods of which the sums over past days are stored. A period of one day is only the running day. */
export const windowDays = [7, 30, 90] as const;

export type Period = { readonly zone: string; readonly days: number; readonly today: Day };
export const firstDayOf = ({ days, today }: Pick<Period, 'days' | 'today'>): Day => addDays(today, 1 - days);

/** Adds up the SKUs of each product. */
async function refreshProducts(tx: Transaction, days: number): Promise<void> {
  await tx`
    with fresh as materialized (
      select product_id, sum(qty)::bigint as qty from analytics.window_skus where days = ${days} and product_id > 0
      group by product_id
    ), gone as (
      delete from analytics.window_products w
      where days = ${days} and not exists (select from fresh where fresh.product_id = w.product_id)
    )
    insert into analytics.window_products as w (days, product_id, qty)
    select ${days}, product_id, qty from fresh
    on conflict (days, product_id) do update set qty = excluded.qty where w.qty <> excluded.qty`;
}

/** Adds up the SKUs of each category, by the categories that the products have now. */
export async function refreshCategories(tx: Transaction, days: number): Promise<void> {
  await tx`
    with fresh as materialized (
      select coalesce(p.category_id, 0) as category_id, sum(w.qty)::bigint as qty, sum(w.revenue)::bigint as revenue,
             (count(*) filter (where w.sku_id > 0))::int as skus
      from analytics.window_skus w left join catalog.product_facts p on p.id = w.product_id
      where w.days = ${days} group by 1
    ), gone as (
      delete from analytics.window_categories w
      where days = ${days} and not exists (select from fresh where fresh.category_id = w.category_id)
    )
    insert into analytics.window_categories as w (days, category_id, qty, revenue, skus)
    select ${days}, category_id, qty, revenue, skus from fresh
    on conflict (days, category_id) do update set qty = excluded.qty, revenue = excluded.revenue, skus = excluded.skus
    where (w.qty, w.revenue, w.skus) is distinct from (excluded.qty, excluded.revenue, excluded.skus)`;
}

/** Adds up SKUs, products, categories and buyers of the past days of a period and stores the sums. Rows that stay the same are not written. */
export async function refreshWindow(tx: Transaction, { zone, days, today }: Period): Promise<void> {
  const range = { zone, from: firstDayOf({ days, today }), to: addDays(today, -1) };
  await tx`
    with ${orderFacts(tx, range)}, fresh as materialized (
      select i.sku_id, max(i.product_id) as product_id, sum(i.qty)::bigint as qty, sum(i.payable_amount)::bigint as revenue
      from facts join orders.line_facts i on i.order_id = facts.id
      where is_sold and i.order_id >= (select first_id from span) and i.order_id < (select end_id from span)
      group by i.sku_id
    ), gone as (
      delete from analytics.window_skus w
      where days = ${days} and not exists (select from fresh where fresh.sku_id = w.sku_id)
    )
    insert into analytics.window_skus as w (days, sku_id, product_id, qty, revenue)
    select ${days}, sku_id, product_id, qty, revenue from fresh
    on conflict (days, sku_id) do update
    set product_id = excluded.product_id, qty = excluded.qty, revenue = excluded.revenue
    where (w.product_id, w.qty, w.revenue) is distinct from (excluded.product_id, excluded.qty, excluded.revenue)`;
  await refreshProducts(tx, days);
  await refreshCategories(tx, days);
  await tx`
    with ${orderFacts(tx, range)}, fresh as materialized (
      select user_id, count(*)::int as orders, max(local)::date as last_day from facts where is_sold and user_id > 0
      group by user_id
    ), gone as (
      delete from analytics.window_buyers w
      where days = ${days} and not exists (select from fresh where fresh.user_id = w.user_id)
    ), kept as (
      insert into analytics.window_buyers as w (days, user_id, orders, last_day)
      select ${days}, user_id, orders, last_day from fresh
      on conflict (days, user_id) do update set orders = excluded.orders, last_day = excluded.last_day
      where (w.orders, w.last_day) is distinct from (excluded.orders, excluded.last_day)
    )
    insert into analytics.windows as w (days, zone, first_day, last_day, refreshed_at, frequency, new_buyers, age_days)
    select ${days}, ${zone}, ${range.from}::date, ${range.to}::date, now(),
           array[count(*) filter (where orders = 1), count(*) filter (where orders = 2),
                 count(*) filter (where orders = 3), count(*) filter (where orders >= 4)],
           count(*) filter (where not exists (
             select from orders.order_facts e where e.user_id = fresh.user_id and e.status between 2 and 5
               and e.created_at < ${startOf(tx, range.from, zone)})),
           coalesce(sum(${range.to}::date - last_day), 0)
    from fresh
    on conflict (days) do update
    set zone = excluded.zone, first_day = excluded.first_day, last_day = excluded.last_day,
        refreshed_at = excluded.refreshed_at, frequency = excluded.frequency, new_buyers = excluded.new_buyers,
        age_days = excluded.age_days`;
}

/** PostgreSQL plans the reports with the sizes of these tables. A new shop would wait for its first automatic analysis. */
export async function analyzeWindows(tx: Transaction): Promise<void> {
  await tx`
    analyze analytics.windows, analytics.window_skus, analytics.window_buyers, analytics.window_products,
      analytics.window_categories`;
}

/**
 * Whether the sums have to be made again: they are of another day or time zone, or days were counted after them and they are older
 * than `afterMs`.
 */
export async function isRefreshDue(sql: Queryable, zone: string, today: Day, afterMs: number): Promise<boolean> {
  const [row] = await sql<{ due: boolean }[]>`
    select count(*) < ${windowDays.length}
           or (min(refreshed_at) < (select max(rolled_at) from analytics.order_days where zone = ${zone})
               and min(refreshed_at) < now() - make_interval(secs => ${afterMs / 1000}::float8)) as due
    from analytics.windows where zone = ${zone} and last_day = ${today}::date - 1`;
  return row!.due;
}

/** The condition on stored rows of a period: none when its sums are of another day or time zone. */
const isCurrent = (sql: Queryable, { zone, days, today }: Period) => sql`
  exists (select from analytics.windows w where w.days = ${days} and w.zone = ${zone} and w.last_day = ${today}::date - 1)`;

/** True when the past days of the period are stored. Otherwise they are counted in the tables. */
export async function hasWindow(sql: Sql, period: Period): Promise<boolean> {
  if (period.days === 1) return false;
  const [row] = await sql<{ current: boolean }[]>`select ${isCurrent(sql, period)} as current`;
  return row!.current;
}
