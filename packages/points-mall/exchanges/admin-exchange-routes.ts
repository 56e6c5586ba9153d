import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { mallErrors } from '../errors.ts';
import { maxAdminPage } from '../limits.ts';
import { mallView } from '../products/product-views.ts';
import { adminExchangeQuery, adminExchangeSchema, cancelBody, shipBody } from './exchange-schemas.ts';
import { selectExchange, selectExchanges } from './exchange-store.ts';
import { exchangeView, statusIn } from './exchange-views.ts';
import { moveExchange } from './move-exchanges.ts';

const view = { auth: 'staff', permission: 'points_mall:view', tag: 'Points mall (admin)' } as const;
const edit = {
  auth: 'staff',
  permission: 'points_mall:edit',
  tag: 'Points mall (admin)',
  params: idParams,
  response: nothing,
  refuses: [mallErrors.exchange_not_found, mallErrors.cannot_move],
  repeat: 'recorded',
} as const;

export function adminExchangeRoutes(runtime: Runtime): Route[] {
  const moveBy = (locale: 'en' | 'zh-CN') => ({
    now: runtime.now(),
    locale,
  });
  return [
    defineRoute({
      ...view,
      method: 'GET',
      path: '/admin/api/points/exchanges',
      summary: 'Exchanges of points, newest first',
      query: adminExchangeQuery,
      response: pagedOf(adminExchangeSchema, maxAdminPage),
      statements: 1,
      async handle({ query, ...at }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const filter = { user_id: query.user_id || null, status: statusIn(query.status) };
        const { rows, total } = await selectExchanges(runtime.sql, filter, paging);
        const shown = mallView(runtime, at);
        const list = rows.map((row) => ({ ...exchangeView(row, shown), user_nickname: row.user_nickname }));
        return paged(list, total, paging);
      },
    }),
    defineRoute({
      ...view,
      method: 'GET',
      path: '/admin/api/points/exchanges/:id',
      summary: 'An exchange of points',
      params: idParams,
      response: adminExchangeSchema,
      refuses: [mallErrors.exchange_not_found],
      statements: 1,
      async handle({ params, ...at }) {
        const row = await selectExchange(runtime.sql, params.id);
        if (!row) throw mallErrors.exchange_not_found();
        return { ...exchangeView(row, mallView(runtime, at)), user_nickname: row.user_nickname };
      },
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/points/exchanges/:id/ship',
      summary: 'Ship an exchange, with or without a tracking number',
      body: shipBody,
      statements: 2,
      async handle({ params, body: { tracking_no }, write, locale }) {
        const by = { ...moveBy(locale), ...(tracking_no === undefined ? {} : { tracking_no }) };
        await write((tx) => moveExchange(tx, params.id, 'ship', by));
        return null;
      },
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/points/exchanges/:id/complete',
      summary: 'Complete an exchange, also one that was not shipped',
      statements: 2,
      async handle({ params, write, locale }) {
        await write((tx) => moveExchange(tx, params.id, 'complete', moveBy(locale)));
        return null;
      },
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/points/exchanges/:id/cancel',
      summary: 'Cancel an exchange: its points and its stock are returned',
      body: cancelBody,
      statements: 8,
      async handle({ params, body, write, locale }) {
        await write((tx) => moveExchange(tx, params.id, 'cancel', { ...moveBy(locale), remark: body.reason }));
        return null;
      },
    }),
  ];
}
