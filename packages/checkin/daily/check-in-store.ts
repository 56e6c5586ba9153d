import type { Queryable, Transaction } from '@tradepost/postgres';
import { pointsWithoutRule } from '../limits.ts';

export type CheckIn = { id: number; user_id: number; date: string; consecutive_days: number; points: number };

/**
 * Checks these shoppers in for a day. A shopper who has checked in on this day or a later one is left out. The rows of the
 * streaks are locked in the order of the shoppers. The rule of a day is the one with the highest day at or below it.
 */
export const insertCheckIns = (
  tx: Transaction,
  userIds: readonly number[],
  date: string,
  now: Date,
): Promise<CheckIn[]> => tx<CheckIn[]>`
  with moved as (
    insert into checkin.streaks as s (user_id, last_date, consecutive_days)
    select distinct user_id, ${date}::date, 1 from unnest(${[...userIds]}::bigint[]) as u (user_id) order by user_id
    on conflict (user_id) do update
      set last_date = excluded.last_date,
          consecutive_days = case when s.last_date = excluded.last_date - 1 then s.consecutive_days + 1 else 1 end
      where s.last_date < excluded.last_date
    returning user_id, consecutive_days
  )
  insert into checkin.check_ins (user_id, date, consecutive_days, points, created_at)
  select m.user_id, ${date}::date, m.consecutive_days,
    coalesce((select r.points from checkin.rules r where r.day <= m.consecutive_days order by r.day desc limit 1),
      ${pointsWithoutRule}::int),
    ${now}
  from moved m
  returning id, user_id, date::text, consecutive_days, points`;

/** The day of the streak of each of these check-ins. */
export async function selectStreakDays(sql: Queryable, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await sql<{ id: number; consecutive_days: number }[]>`
    select id, consecutive_days from checkin.check_ins where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map(({ id, consecutive_days }) => [id, consecutive_days]));
}

export type CheckInStatus = {
  last_date: string | null;
  consecutive_days: number | null;
  month_dates: string[];
  month_points: number;
};

/** The last check-in of a shopper, and the check-ins of the month of this day. */
export async function selectStatus(sql: Queryable, userId: number, today: string): Promise<CheckInStatus> {
  const [row] = await sql<CheckInStatus[]>`
    select s.last_date::text, s.consecutive_days, coalesce(m.dates, '{}') as month_dates, m.points as month_points
    from (
      select array_agg(date::text order by date) as dates, coalesce(sum(points), 0)::int as points
      from checkin.check_ins
      where user_id = ${userId} and date >= date_trunc('month', ${today}::date)::date
        and date < (date_trunc('month', ${today}::date) + interval '1 month')::date) as m
    left join checkin.streaks s on s.user_id = ${userId}`;
  return row!;
}
