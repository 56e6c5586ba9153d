import { paged, pagingOf, toMinor } from '@tradepost/core';
import { defineRoute, exampleIdParams, fileUrls, idParams, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { activityView } from '../activity.ts';
import type { ActivityKind } from '../activity-kinds.ts';
import { selectOpenActivities } from '../back-office/activity-store.ts';
import { activityErrors } from '../errors.ts';
import { activitySchema, anyRowSchema, rowSchema, storefrontQuery } from '../schemas.ts';
import { isoFor } from '../views.ts';
import { selectShownRow, selectShownRows } from './row-store.ts';
import { type RowViewContext, shownRowView } from './row-view.ts';

const contextOf =
  ({ settings, config }: Runtime) =>
  (request: Request, locale: RowViewContext['locale']): RowViewContext => ({
    locale,
    iso: isoFor(settings.get(timeZone)),
    fileUrl: fileUrls(request, config).absolute,
  });

const minorOrNull = (amount: number | undefined) => (amount === undefined ? null : toMinor(amount));

/** The routes of shoppers for one kind. */
export function storefrontRoutes(runtime: Runtime, kind: ActivityKind): Route[] {
  const { sql } = runtime;
  const contextFor = contextOf(runtime);
  const base = `/api/v1/${kind.path}`;
  const name = kind.label.en.toLowerCase();
  const row = rowSchema(kind);
  return [
    defineRoute({
      method: 'GET',
      path: `${base}/products`,
      auth: 'public',
      tag: kind.tag,
      summary: `Products of the running activity (${name}) that are not sold out`,
      description:
        'By the sort of the shop, then by price. With sort_order and no sort_by, by price. `sales` sorts by the sold pieces of the product.',
      query: storefrontQuery,
      response: pagedOf(row),
      statements: 1,
      async handle({ query, request, locale }) {
        const paging = pagingOf(query);
        const filter = {
          activity_id: query.activity_id || null,
          category_id: query.category_id || null,
          keyword: query.keyword || null,
          min_price: minorOrNull(query.min_price),
          max_price: minorOrNull(query.max_price),
        };
        const by = query.sort_by ?? (query.sort_order ? 'price' : 'sort');
        const order = { by, descending: query.sort_order === 'desc' } as const;
        const { rows, total } = await selectShownRows(sql, kind, filter, order, paging, { now: runtime.now(), locale });
        const context = contextFor(request, locale);
        return paged(
          rows.map((one) => shownRowView(kind, one, context)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/products/:id`,
      auth: 'public',
      tag: kind.tag,
      summary: `A product of an activity (${name}), by its activity_product_id`,
      params: exampleIdParams(kind.examples.row),
      response: row,
      refuses: [activityErrors.activity_row_unknown],
      statements: 1,
      async handle({ params, request, locale }) {
        const found = await selectShownRow(sql, params.id, [kind.type], locale);
        if (!found) throw activityErrors.activity_row_unknown();
        return shownRowView(kind, found, contextFor(request, locale));
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/activities`,
      auth: 'public',
      tag: kind.tag,
      summary: `Running and coming activities (${name}), the first to start first`,
      query: pageQueryWith({}),
      response: pagedOf(activitySchema(kind)),
      statements: 1,
      async handle({ query, request, locale }) {
        const paging = pagingOf(query);
        const { rows, total } = await selectOpenActivities(sql, kind.type, paging, runtime.now());
        const context = contextFor(request, locale);
        return paged(
          rows.map((one) => activityView(kind, one, context)),
          total,
          paging,
        );
      },
    }),
  ];
}

/** The activity fields that the page of a product shows beside it: countdown, group buy and bargain. */
export function supplementRoute(runtime: Runtime, kinds: readonly ActivityKind[]): Route {
  const contextFor = contextOf(runtime);
  const kindOf = new Map(kinds.map((kind) => [kind.type, kind]));
  const types = kinds.map(({ type }) => type);
  return defineRoute({
    method: 'GET',
    path: '/api/v1/marketing/activity-products/:id',
    auth: 'public',
    tag: 'Marketing',
    summary: 'An activity product of any kind, by its activity_product_id',
    description: 'Also before the start and after the end of its activity.',
    params: idParams,
    response: anyRowSchema,
    refuses: [activityErrors.activity_row_unknown],
    statements: 1,
    async handle({ params, request, locale }) {
      const found = await selectShownRow(runtime.sql, params.id, types, locale);
      const kind = found && kindOf.get(found.activity_type);
      if (!kind) throw activityErrors.activity_row_unknown();
      return shownRowView(kind, found, contextFor(request, locale));
    },
  });
}
