import { instantInZone, isoInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, idOrZero, nothing, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { type Runtime, runtimeErrors, type Setting, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { pointsErrors } from '../errors.ts';
import { selectLogs } from '../ledger/log-list-store.ts';
import { type LogRemarks, logViews } from '../ledger/log-remarks.ts';
import { selectSums } from '../ledger/sums-store.ts';
import { maxAdminPage } from '../limits.ts';
import type { PointsStats } from '../points-stats.ts';
import { adjustBody, configBody, configView, pointsLogSchema, statsView } from '../schemas.ts';
import { enableOrderPoints, orderPointsRate, pointsExpireDays, pointsToYuan } from '../settings.ts';
import { adjustPoints } from './adjust-points.ts';

const tag = 'Points (admin)';
const settingOf: Readonly<Record<string, Setting>> = {
  points_to_yuan: pointsToYuan as Setting,
  order_points_rate: orderPointsRate as Setting,
  points_expire_days: pointsExpireDays as Setting,
  enable_order_points: enableOrderPoints as Setting,
};

export function staffRoutes(
  runtime: Runtime,
  { stats, remarks }: { readonly stats: readonly PointsStats[]; readonly remarks: readonly LogRemarks[] },
): Route[] {
  const { sql, settings, now } = runtime;
  const config = () => ({
    points_to_yuan: settings.get(pointsToYuan),
    order_points_rate: settings.get(orderPointsRate),
    points_expire_days: settings.get(pointsExpireDays),
    enable_order_points: settings.get(enableOrderPoints),
  });
  const startOfToday = () => {
    const zone = settings.get(timeZone);
    return instantInZone(isoInZone(now(), zone).slice(0, 10), zone, 'start')!;
  };
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/points/logs',
      auth: 'staff',
      permission: 'points_mall:view',
      tag,
      summary: 'Changes of the points of all shoppers, newest first',
      query: pageQueryWith({
        user_id: idOrZero().optional().describe('0 or absent: all shoppers'),
        type: z
          .int()
          .min(-1)
          .max(7)
          .optional()
          .describe('0, -1 or absent: all types')
          .meta({ examples: [0] }),
      }),
      response: pagedOf(pointsLogSchema, maxAdminPage),
      statements: 1 + remarks.length,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const filter = { user_id: query.user_id || null, type: Math.max(0, query.type ?? 0) || null };
        const { rows, total } = await selectLogs(sql, filter, paging);
        const view = { zone: settings.get(timeZone), locale };
        return paged(await logViews(sql, rows, remarks, view), total, paging);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/points/adjust',
      auth: 'staff',
      permission: 'points_mall:edit',
      tag,
      summary: 'Add points to a shopper, or take points away; the balance is never negative',
      body: adjustBody,
      response: nothing,
      refuses: [pointsErrors.shopper_not_found, pointsErrors.not_enough_points, pointsErrors.too_many_points],
      repeat: 'recorded',
      statements: 7,
      async handle({ body, write }) {
        await write((tx) => adjustPoints(tx, [body], now()));
        return null;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/points/stats',
      auth: 'staff',
      permission: 'points_mall:view',
      tag,
      summary: 'Sums of points, and the numbers of the points mall',
      description: 'Today is the day in the time zone of the shop.',
      response: statsView,
      statements: 1 + stats.length,
      async handle() {
        const [sums, ...counts] = await Promise.all([
          selectSums(sql, startOfToday()),
          ...stats.map(({ count }) => count(sql)),
        ]);
        const { issued, consumed, today_issued, today_consumed } = sums;
        return {
          ...{ total_issued: issued, total_consumed: consumed, total_balance: issued - consumed },
          ...{ product_count: 0, exchange_count: 0 },
          ...Object.fromEntries(stats.map(({ field }, index) => [field, counts[index]!])),
          ...{ today_issued, today_consumed },
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/points/config',
      auth: 'staff',
      permission: 'points_mall:view',
      tag,
      summary: 'The settings of points',
      response: configView,
      statements: 0,
      handle: () => config(),
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/points/config',
      auth: 'staff',
      permission: 'points_mall:edit',
      tag,
      summary: 'Change the settings of points; absent fields keep their value',
      description: 'Orders keep the points and amounts that they were placed with.',
      body: configBody,
      response: configView,
      refuses: [runtimeErrors.fixed_setting],
      repeat: 'natural',
      statements: 5,
      async handle({ caller, actor, body }) {
        const values = Object.entries(body).flatMap(([field, value]) => {
          const of = settingOf[field]!;
          // A form sends back all that it showed, also what the configuration file sets.
          return value === undefined || value === settings.get(of) ? [] : [[of.key, value] as const];
        });
        await settings.setMany(Object.fromEntries(values), { by: `admin:${caller.id}`, actor });
        return config();
      },
    }),
  ];
}
