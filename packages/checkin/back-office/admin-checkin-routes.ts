import { isoInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { checkinErrors } from '../errors.ts';
import { maxAdminPage } from '../limits.ts';
import { replaceRules } from '../rules/replace-rules.ts';
import { selectRules } from '../rules/rule-store.ts';
import { logQuery, logView, rulesBody, rulesView } from '../schemas.ts';
import { selectCheckIns } from './log-store.ts';

const tag = 'Check-in (admin)';

export const adminCheckinRoutes = ({ sql, settings }: Runtime): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/admin/api/checkin/rules',
    auth: 'staff',
    permission: 'checkin:view',
    tag,
    summary: 'The rules of check-ins, by day',
    response: rulesView,
    statements: 1,
    handle: () => selectRules(sql),
  }),
  defineRoute({
    method: 'PUT',
    path: '/admin/api/checkin/rules',
    auth: 'staff',
    permission: 'checkin:config',
    tag,
    summary: 'Replace all rules of check-ins',
    description: 'A bare array. A rule holds from its day up to the day of the next rule; day 0 is the default.',
    body: rulesBody,
    response: nothing,
    refuses: [checkinErrors.day_twice],
    repeat: 'recorded',
    statements: 2,
    async handle({ body, write }) {
      await write((tx) => replaceRules(tx, body));
      return null;
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/api/checkin/logs',
    auth: 'staff',
    permission: 'checkin:view',
    tag,
    summary: 'Check-ins of shoppers, newest first',
    query: logQuery,
    response: pagedOf(logView, maxAdminPage),
    statements: 1,
    async handle({ query }) {
      const paging = pagingOf(query, { cap: maxAdminPage });
      const { rows, total } = await selectCheckIns(sql, query.user_id || null, paging);
      const zone = settings.get(timeZone);
      const list = rows.map(({ id, user_id, user_nickname, date, consecutive_days, points, created_at }) => ({
        ...{ id, user_id, user_nickname, date, consecutive_days, points },
        created_at: isoInZone(created_at, zone),
      }));
      return paged(list, total, paging);
    },
  }),
];
