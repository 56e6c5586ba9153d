import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { dispatchedSince } from '@tradepost/runtime';
import { type DayRange, selectDayFacts } from './order-facts.ts';
import { type Day, postgresZone } from './shop-days.ts';

/** The orders that were created on a day. Amounts are in minor units. */
export type OrderDay = {
  day: Day;
  orders: number;
  paid_orders: number;
  sold_orders: number;
  sales: number;
  refunded_orders: number;
  hours: number[];
  bands: number[];
  methods: number[];
};

const columns = (sql: Queryable) => sql`
  day::text as day, orders, paid_orders, sold_orders, sales, refunded_orders, hours, bands, methods`;

const firstDay = (sql: Queryable, zone: string) => sql`
  select (min(first_at) at time zone ${postgresZone(zone)})::date::text as day from orders.order_spans`;

export const emptyDay = (day: Day): OrderDay => ({
  ...{ day, orders: 0, paid_orders: 0, sold_orders: 0, sales: 0, refunded_orders: 0 },
  ...{ hours: Array<number>(24).fill(0), bands: Array<number>(5).fill(0), methods: Array<number>(3).fill(0) },
});

/** The rows of these days in the roll-up, and the day of the first order (null for a shop without orders). */
export async function selectRolledDays(
  sql: Sql,
  zone: string,
  days: readonly Day[],
): Promise<{ rows: OrderDay[]; first: Day | null }> {
  const rows = await sql<(OrderDay & { first: Day | null })[]>`
    with rolled as (
      select ${columns(sql)} from analytics.order_days where zone = ${zone} and day = any(${[...days]}::date[])
    ), beginning as (${firstDay(sql, zone)})
    select rolled.*, beginning.day as first from beginning left join rolled on true`;
  return {
    first: rows[0]!.first,
    rows: rows.flatMap(({ first: _, ...row }) => (row.day === null ? [] : [row])),
  };
}

/** Counts the orders of these days in the tables. */
export const countDaysLive = (sql: Sql, range: DayRange): Promise<OrderDay[]> =>
  sql<OrderDay[]>`select ${columns(sql)} from (${selectDayFacts(sql, range)}) as live`;

/** The day of the first order, or null for a shop without orders. */
export async function selectFirstDay(sql: Queryable, zone: string): Promise<Day | null> {
  const [row] = await sql<{ day: Day | null }[]>`${firstDay(sql, zone)}`;
  return row!.day;
}

/** Counts the orders of these days and stores the counts. */
export async function rollRange(tx: Transaction, range: DayRange): Promise<void> {
  await tx`
    insert into analytics.order_days as d (zone, day, orders, paid_orders, sold_orders, sales, refunded_orders, hours, bands,
      methods)
    ${selectDayFacts(tx, range)}
    on conflict (zone, day) do update
    set orders = excluded.orders, paid_orders = excluded.paid_orders, sold_orders = excluded.sold_orders,
        sales = excluded.sales, refunded_orders = excluded.refunded_orders, hours = excluded.hours, bands = excluded.bands,
        methods = excluded.methods, rolled_at = now()`;
}

/** The days from the first order to `to` that the roll-up does not have, newest first. */
export async function selectMissingDays(sql: Queryable, { zone, from, to }: DayRange): Promise<Day[]> {
  const rows = await sql<{ day: Day }[]>`
    select wanted.day::date::text as day
    from generate_series(${from}::date::timestamp, ${to}::date::timestamp, interval '1 day') as wanted (day)
    where not exists (select from analytics.order_days d where d.zone = ${zone} and d.day = wanted.day::date)
    order by wanted.day desc`;
  return rows.map(({ day }) => day);
}

/** True for the one process that rolls up days; with `wait` it waits for the others. The lock ends with the transaction. */
export async function lockRolling(tx: Transaction, { wait }: { wait: boolean }): Promise<boolean> {
  if (wait) {
    await tx`set local lock_timeout = '60s'`;
    await tx`select pg_advisory_xact_lock(hashtext('analytics.roll'))`;
    return true;
  }
  const [row] = await tx<{ ours: boolean }[]>`select pg_try_advisory_xact_lock(hashtext('analytics.roll')) as ours`;
  return row!.ours;
}

/** Records the hours in which these orders were created. Their days are counted again. */
export async function markOrders(tx: Transaction, orderIds: readonly number[]): Promise<void> {
  await tx`
    insert into analytics.changed_hours (hour)
    select distinct date_trunc('hour', created_at) as hour from orders.order_facts
    where id = any(${[...orderIds]}::bigint[]) order by hour
    on conflict do nothing`;
}

/**
 * Records the hours of the orders whose events were dispatched while the job did not run for `afterMs`: this module was switched
 * off, and its reader did not read them. The stored counts of the catalogue say when the job last ran.
 */
export async function markMissed(sql: Sql, kinds: readonly string[], afterMs: number): Promise<void> {
  const [last] = await sql<{ is_old: boolean }[]>`
    select counted_at < now() - make_interval(secs => ${afterMs / 1000}::float8) as is_old from analytics.catalogue_counts`;
  if (!last?.is_old) return;
  // Ten minutes more, because the job stores its counts every five.
  const since = sql`(select counted_at - interval '10 minutes' from analytics.catalogue_counts)`;
  await sql`
    insert into analytics.changed_hours (hour)
    select distinct date_trunc('hour', o.created_at) as hour
    from ${dispatchedSince(sql, kinds, since)} e join orders.order_facts o on o.id = (e.data ->> 'order_id')::bigint
    order by hour
    on conflict do nothing`;
}

/**
 * Removes changed hours before the running day and returns their days. An order of the same hour that changes later waits for
 * this transaction and records the hour again.
 */
export async function takeChangedDays(tx: Transaction, zone: string, today: Day, limit: number): Promise<Day[]> {
  const name = postgresZone(zone);
  const rows = await tx<{ days: Day[] }[]>`
    with taken as (
      delete from analytics.changed_hours where hour = any(array(
        select hour from analytics.changed_hours
        where hour < (${today}::date::timestamp at time zone ${name}) order by hour limit ${limit}
      )) returning hour
    )
    -- In a zone with an offset of 30 minutes an hour of UTC is a part of two days.
    select coalesce(array_agg(distinct day::text), '{}') as days
    from taken cross join lateral (values ((hour at time zone ${name})::date),
      (((hour + interval '59 minutes') at time zone ${name})::date)) as d (day)
    where day < ${today}::date`;
  return rows[0]!.days;
}

/** Removes the counts of other time zones, and of days without a past. */
export async function deleteOtherZones(tx: Transaction, zone: string): Promise<void> {
  await tx`delete from analytics.order_days where zone <> ${zone}`;
}
