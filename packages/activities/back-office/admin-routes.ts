import { attrsIn } from '@tradepost/catalog';
import { type Locale, paged, pagingOf, toWire } from '@tradepost/core';
import { defineRoute, exampleIdParams, fileUrls, nothing, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { activityView, pricesView } from '../activity.ts';
import type { ActivityKind } from '../activity-kinds.ts';
import { activityErrors } from '../errors.ts';
import { maxAdminPage, maxProductsBody } from '../limits.ts';
import { activityBody, activityChanges, activitySchema, adminRowQuery, adminRowSchema, rowsBody } from '../schemas.ts';
import { isoFor } from '../views.ts';
import { selectActivities } from './activity-store.ts';
import { type AdminRow, selectAdminRows } from './row-store.ts';
import { changeActivity, createActivity, deleteActivity, saveRefusals } from './save-activity.ts';
import { replaceRows, rowRefusals } from './save-rows.ts';

type AdminRowContext = { locale: Locale; fileUrl: (path: string) => string };

const adminRowView = (kind: ActivityKind, row: AdminRow, { locale, fileUrl }: AdminRowContext) => ({
  ...{ id: row.id, activity_product_id: row.id, activity_id: row.activity_id, activity_name: row.activity_name },
  ...{ product_id: row.product_id, sku_id: row.sku_id },
  ...pricesView(kind, row),
  limit_per_order: row.limit_per_order,
  total_stock_limit: row.total_stock_limit,
  ...{ sold_qty: row.sold_qty, sort: row.sort },
  product_title: row.title,
  product_cover: fileUrl(row.cover),
  product_price: toWire(row.product_price),
  sku_attrs: attrsIn(row.attrs, row.translations, locale),
  sku_price: toWire(row.sku_price),
  sku_stock: row.stock,
});

/** The routes of the back office for one kind. Fields have the names of both families of console pages. */
export function adminRoutes(runtime: Runtime, kind: ActivityKind): Route[] {
  const { sql, settings, config } = runtime;
  const deps = { runtime, kind };
  const base = `/admin/api/${kind.path}`;
  const staff = (permission: string) => ({ auth: 'staff', permission, tag: kind.tag }) as const;
  const view = staff(kind.permissions.view);
  const edit = staff(kind.permissions.edit);
  const name = kind.label.en.toLowerCase();
  const activity = activitySchema(kind);

  return [
    defineRoute({
      ...view,
      method: 'GET',
      path: `${base}/activities`,
      summary: `Activities (${name}), newest first`,
      query: pageQueryWith({}),
      response: pagedOf(activity, maxAdminPage),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const { rows, total } = await selectActivities(sql, kind.type, paging);
        const context = { iso: isoFor(settings.get(timeZone)), locale };
        return paged(
          rows.map((row) => activityView(kind, row, context)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...edit,
      method: 'POST',
      path: `${base}/activities`,
      summary: `Add an activity (${name})`,
      body: activityBody(kind),
      response: activity,
      refuses: saveRefusals(kind),
      repeat: 'recorded',
      statements: 2,
      handle: ({ body, write, locale }) =>
        write(async (tx) =>
          activityView(kind, await createActivity(tx, deps, body), {
            iso: isoFor(settings.get(timeZone)),
            locale,
          }),
        ),
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: `${base}/activities/:id`,
      summary: `Change an activity (${name}); absent fields stay`,
      params: exampleIdParams(kind.examples.activity),
      body: activityChanges(kind),
      response: nothing,
      refuses: [activityErrors.activity_unknown, ...saveRefusals(kind)],
      repeat: 'recorded',
      statements: 3,
      async handle({ params, body, write }) {
        await write((tx) => changeActivity(tx, deps, params.id, body));
        return null;
      },
    }),
    defineRoute({
      ...staff(kind.permissions.remove),
      method: 'DELETE',
      path: `${base}/activities/:id`,
      summary: `Delete an activity (${name}); its orders stay`,
      params: exampleIdParams(kind.examples.activity),
      response: nothing,
      refuses: [activityErrors.activity_unknown],
      repeat: 'recorded',
      statements: 1,
      async handle({ params, write }) {
        await write((tx) => deleteActivity(tx, deps, params.id));
        return null;
      },
    }),
    defineRoute({
      ...view,
      method: 'GET',
      path: `${base}/products`,
      summary: `Products of activities (${name}), of the newest activity first`,
      query: adminRowQuery,
      response: pagedOf(adminRowSchema(kind), maxAdminPage),
      statements: 1,
      async handle({ query, request, locale }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const filter = {
          activity_id: query.activity_id || null,
          product_id: query.product_id || null,
          keyword: query.keyword || null,
        };
        const { rows, total } = await selectAdminRows(sql, kind.type, filter, paging, locale);
        const { absolute } = fileUrls(request, config);
        return paged(
          rows.map((row) => adminRowView(kind, row, { locale, fileUrl: absolute })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: `${base}/activities/:id/products`,
      summary: `Replace all products of an activity (${name})`,
      description: 'A SKU that stays or comes back keeps its id and its sold quantity. [] removes all.',
      params: exampleIdParams(kind.examples.activity),
      body: rowsBody(kind),
      bodyLimit: maxProductsBody,
      response: nothing,
      refuses: rowRefusals,
      repeat: 'recorded',
      statements: 5,
      async handle({ params, body, write }) {
        await write((tx) => replaceRows(tx, deps, params.id, body));
        return null;
      },
    }),
  ];
}
