import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { selectBalances } from '../ledger/ledger-store.ts';
import { selectLogs } from '../ledger/log-list-store.ts';
import { type LogRemarks, logViews } from '../ledger/log-remarks.ts';
import { maxLogsPage } from '../limits.ts';
import { balanceView, pointsLogSchema } from '../schemas.ts';

const tag = 'Points';

export function shopperRoutes({ sql, settings }: Runtime, remarks: readonly LogRemarks[]): Route[] {
  const logs = (path: string, summary: string) =>
    defineRoute({
      method: 'GET',
      path,
      auth: 'shopper',
      tag,
      summary,
      query: pageQueryWith({}),
      response: pagedOf(pointsLogSchema, maxLogsPage),
      statements: 1 + remarks.length,
      async handle({ caller, query, locale }) {
        const paging = pagingOf(query, { cap: maxLogsPage });
        const { rows, total } = await selectLogs(sql, { user_id: caller.id, type: null }, paging);
        const view = { zone: settings.get(timeZone), locale };
        return paged(await logViews(sql, rows, remarks, view), total, paging);
      },
    });
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/points/balance',
      auth: 'shopper',
      tag,
      summary: 'My points',
      response: balanceView,
      statements: 1,
      async handle({ caller }) {
        const balances = await selectBalances(sql, [caller.id]);
        return { points: balances.get(caller.id) ?? 0 };
      },
    }),
    logs('/api/v1/points/logs', 'Changes of my points, newest first'),
    logs('/api/v1/user/points/logs', 'Changes of my points, newest first; the same as /api/v1/points/logs'),
  ];
}
