import type { Sql, Transaction } from '@tradepost/postgres';
import type { Day } from '../days/shop-days.ts';
import { maxVisitorsPerDay } from '../limits.ts';

/** The page views of a visitor in a batch. Channel and device are those of the first of them. */
export type SeenVisitor = {
  day: Day;
  /** A hash in hexadecimal notation. */
  visitor: string;
  views: number;
  channel: string;
  device: string;
};
/** An addition to a counter of a day. */
export type Count = { day: Day; counter: string; n: number };

/** Adds page views to their visitors, and everything to the counters of the days, in one statement. */
export async function addVisits(
  sql: Sql,
  { seen, counts }: { seen: readonly SeenVisitor[]; counts: readonly Count[] },
): Promise<void> {
  await sql`
    with arrived as (
      select day, decode(visitor, 'hex') as visitor, views, channel, device
      from unnest(${seen.map((v) => v.day)}::date[], ${seen.map((v) => v.visitor)}::text[],
                  ${seen.map((v) => v.views)}::int[], ${seen.map((v) => v.channel)}::text[],
                  ${seen.map((v) => v.device)}::text[]) as s (day, visitor, views, channel, device)
    ), room as (
      select day, n < ${maxVisitorsPerDay} as is_free from analytics.visit_counts where counter = 'visitors'
    ), written as (
      insert into analytics.visitors as v (day, visitor, views)
      select day, visitor, a.views from arrived a left join room using (day)
      where coalesce(is_free, true)
        or exists (select from analytics.visitors k where k.day = a.day and k.visitor = a.visitor)
      -- In one order everywhere, so that two batches do not wait for each other.
      order by day, visitor
      on conflict (day, visitor) do update set views = v.views + excluded.views
      returning v.day, v.visitor, v.views, xmax = 0 as is_new
    ), outcomes as (
      select w.day, a.channel, a.device, w.is_new, w.views = 1 as is_bounce, w.views - a.views = 1 as was_bounce
      from written w join arrived a using (day, visitor)
    ), added as (
      select day, counter, n
      from unnest(${counts.map((c) => c.day)}::date[], ${counts.map((c) => c.counter)}::text[],
                  ${counts.map((c) => c.n)}::bigint[]) as c (day, counter, n)
      union all select day, 'visitors', 1 from outcomes where is_new
      union all select day, 'channel:' || channel, 1 from outcomes where is_new
      union all select day, 'device:' || device, 1 from outcomes where is_new
      union all select day, 'bounces', 1 from outcomes where is_new and is_bounce
      union all select day, 'bounces', -1 from outcomes where not is_new and was_bounce
    )
    insert into analytics.visit_counts as c (day, counter, n)
    select day, counter, sum(n) from added group by day, counter order by day, counter
    on conflict (day, counter) do update set n = c.n + excluded.n`;
}

/** The salt of a day. The first process that asks stores it. */
export async function selectSalt(sql: Sql, day: Day, proposed: Uint8Array): Promise<Uint8Array> {
  const [row] = await sql<{ salt: Uint8Array }[]>`
    with stored as (
      insert into analytics.visit_salts (day, salt) values (${day}, ${proposed}) on conflict do nothing returning salt
    )
    select salt from stored union all select salt from analytics.visit_salts where day = ${day} limit 1`;
  if (row) return row.salt;
  // Another process has stored it in the meantime.
  const [theirs] = await sql<{ salt: Uint8Array }[]>`select salt from analytics.visit_salts where day = ${day}`;
  return theirs!.salt;
}

/** Deletes what could recognise the visitors of past days. */
export async function deleteOldVisitors(tx: Transaction, today: Day): Promise<void> {
  await tx`delete from analytics.visitors where day < ${today}`;
  await tx`delete from analytics.visit_salts where day < ${today}`;
}

export type VisitDay = { day: Day; counters: Readonly<Record<string, number>> };

/** The counters of these days. Days without visits have no row. */
export async function selectVisitDays(sql: Sql, from: Day, to: Day): Promise<VisitDay[]> {
  return sql<VisitDay[]>`
    select day::text as day, jsonb_object_agg(counter, n) as counters from analytics.visit_counts
    where day between ${from} and ${to} group by day order by day`;
}
