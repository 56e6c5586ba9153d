import { isoInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, type Route, StreamedFile } from '@tradepost/http';
import type { Module } from '@tradepost/module';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { openSummary } from './change.ts';
import { selectChanges } from './change-store.ts';
import { changeLogErrors } from './errors.ts';
import { exportChanges } from './export-changes.ts';
import { mostCounted } from './limits.ts';
import { changeQuery, changesFile, changesView, exportQuery, filterOf, viewOf } from './schemas.ts';

export function changeLogRoutes({ sql, settings }: Runtime, modules: readonly Module[]): Route[] {
  const summary = openSummary(modules);
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/change-log',
      auth: 'staff',
      permission: 'system:admin',
      tag: 'Change log',
      summary: 'What administrators and operators changed, the newest change first',
      description:
        `One entry per changed row, with the values before and after. Counts and pages end at ${mostCounted} entries: \`to\` ` +
        'finds older ones. Secrets are `***`.',
      query: changeQuery,
      response: changesView,
      refuses: [changeLogErrors.invalid_moment],
      statements: 1,
      async handle({ query, locale }) {
        const zone = settings.get(timeZone);
        const paging = pagingOf(query);
        const { rows, total } = await selectChanges(sql, filterOf(query, zone), paging);
        const view = { iso: (at: Date) => isoInZone(at, zone), summary, locale };
        const list = rows.map((change) => viewOf(change, view));
        return paged(list, total, paging);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/change-log/export',
      auth: 'staff',
      permission: 'system:admin',
      tag: 'Change log',
      summary: 'All changes that match as CSV, the newest change first',
      description:
        'The columns are those of the list without `summary`. Changes that are made meanwhile are not in it.',
      query: exportQuery,
      file: { type: 'text/csv; charset=utf-8', name: 'change-log.csv' },
      response: changesFile,
      refuses: [changeLogErrors.invalid_moment],
      statements: 1,
      handle({ query }) {
        const zone = settings.get(timeZone);
        return new StreamedFile(exportChanges(sql, filterOf(query, zone), { format: 'csv', zone }));
      },
    }),
  ];
}
