import type { Audit } from '@tradepost/runtime';
import { keptDays } from './limits.ts';

export const checkinAudits: readonly Audit[] = [
  {
    name: 'checkin.one_per_day',
    about: 'a shopper has checked in at most once on a day',
    query: (sql) => sql`
      select user_id, date::text, count(*) as check_ins from checkin.check_ins
      group by user_id, date having count(*) > 1`,
  },
  {
    name: 'checkin.chain',
    about: 'the days in a row of a check-in are those of the day before and one, else 1',
    // The day before the oldest check-in of a shopper may be deleted by retention.
    query: (sql, now) => sql`
      select c.id as checkin_id, c.user_id, c.date::text, c.consecutive_days, before.consecutive_days as day_before
      from checkin.check_ins c
      left join checkin.check_ins before on before.user_id = c.user_id and before.date = c.date - 1
      where c.consecutive_days <> coalesce(before.consecutive_days, 0) + 1
        and (before.id is not null or c.date > (${now})::date - ${keptDays}::int
          or exists (select from checkin.check_ins older where older.user_id = c.user_id and older.date < c.date))`,
  },
  {
    name: 'checkin.streaks',
    about: 'the streak of a shopper is that of the last check-in',
    query: (sql, now) => sql`
      select user_id, s.last_date::text, s.consecutive_days, c.date::text as last_check_in, c.consecutive_days as days_of_check_in
      from checkin.streaks s
      full join (select distinct on (user_id) user_id, date, consecutive_days from checkin.check_ins
                 order by user_id, date desc) as c using (user_id)
      where (c.date is null and s.last_date > (${now})::date - ${keptDays}::int)
         or (c.date is not null
             and (s.last_date is distinct from c.date or s.consecutive_days is distinct from c.consecutive_days))`,
  },
  {
    name: 'checkin.points',
    about: 'the points of a check-in are a row of the ledger, and the ledger has no other points of check-ins',
    // Retention deletes old check-ins, and their rows of the ledger stay.
    query: (sql, now) => sql`
      select c.id as checkin_id, c.user_id, c.points, l.points as points_of_ledger
      from checkin.check_ins c
      left join points.logs l on l.cause = 'checkin:' || c.user_id || ':' || c.date
      where coalesce(l.points, 0) <> c.points or l.user_id <> c.user_id or l.type <> 1
      union all
      select l.related_id, l.user_id, null, l.points from points.logs l
      where l.type = 1 and l.created_at > ${now} - ${keptDays - 1} * interval '1 day'
        and not exists (select from checkin.check_ins c
                        where c.id = l.related_id and l.cause = 'checkin:' || c.user_id || ':' || c.date)`,
  },
];
