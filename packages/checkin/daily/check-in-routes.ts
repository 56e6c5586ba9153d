import { defineRoute, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { checkinErrors } from '../errors.ts';
import { selectRules } from '../rules/rule-store.ts';
import { checkedInView, rulesView, statusView } from '../schemas.ts';
import { checkIn } from './check-in.ts';
import { type CheckIn, type CheckInStatus, selectStatus } from './check-in-store.ts';
import { dayIn } from './shop-day.ts';

const tag = 'Check-in';

/** The status on a day. The day before yesterday ends a streak. */
function statusOf({ last_date, consecutive_days, month_dates, month_points }: CheckInStatus, today: string) {
  const yesterday = new Date(Date.parse(`${today}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
  return {
    // After a change of the zone the last check-in can be on a later day.
    checked_today: last_date !== null && last_date >= today,
    consecutive_days: last_date !== null && last_date >= yesterday ? consecutive_days! : 0,
    month_dates,
    month_count: month_dates.length,
    month_points,
  };
}

export function checkInRoutes(runtime: Runtime): Route[] {
  const { sql, settings } = runtime;
  const check = runtime.groupCommit<number, CheckIn>('check_in', (userIds, record) =>
    checkIn({ sql, settings, now: () => runtime.now() }, userIds, record),
  );
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/checkin',
      auth: 'shopper',
      tag,
      summary: 'Check in for today; the points depend on the days in a row',
      response: checkedInView,
      refuses: [checkinErrors.already_checked_in, checkinErrors.account_full],
      repeat: 'recorded',
      statements: 6,
      async handle({ caller, claim }) {
        const { points, consecutive_days } = await check(caller.id, claim);
        return { points, consecutive_days };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/checkin/status',
      auth: 'shopper',
      tag,
      summary: 'The streak and the check-ins of this month',
      response: statusView,
      statements: 1,
      async handle({ caller }) {
        const today = dayIn(runtime.now(), settings.get(timeZone));
        return statusOf(await selectStatus(sql, caller.id, today), today);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/checkin/rules',
      auth: 'shopper',
      tag,
      summary: 'The points by the days in a row',
      response: rulesView,
      statements: 1,
      handle: () => selectRules(sql),
    }),
  ];
}
