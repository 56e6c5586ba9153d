import { defineRoute, fileUrls, type Route } from '@tradepost/http';
import { analyticsErrors } from '../errors.ts';
import { type DashboardDeps, readDashboard } from './read-dashboard.ts';
import { dashboardQuery, dashboardView } from './schemas.ts';

/** The roll-up, the running day, days that the roll-up does not have, the states, the state of the sums, and products. */
const ownStatements = 6;

export const dashboardRoutes = (deps: DashboardDeps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/admin/api/dashboard',
    auth: 'staff',
    tag: 'Dashboard (admin)',
    summary: 'The numbers of today, charts, and what needs attention',
    description:
      'Numbers that the caller has no permission for, and those of packages that are switched off, are 0; their lists and charts are empty.',
    query: dashboardQuery,
    response: dashboardView,
    refuses: [analyticsErrors.invalid_day, analyticsErrors.days_reversed, analyticsErrors.too_many_days],
    statements: ownStatements + deps.cards.length + deps.lists.length,
    slots: deps.slots,
    handle: ({ query, locale, caller, request }) =>
      readDashboard(deps, {
        ...{ query, locale },
        reader: { id: caller.id, perms: caller.perms },
        fileUrl: fileUrls(request, deps.runtime.config).absolute,
      }),
  }),
];
