import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import type { CouponIssuer } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import { mallErrors } from '../errors.ts';
import { maxMallPage } from '../limits.ts';
import { mallView } from '../products/product-views.ts';
import { sentAddress } from './address-snapshot.ts';
import type { PlaceExchange } from './decide-exchanges.ts';
import { type Exchange, reviveExchange } from './exchange.ts';
import { exchangeBody, exchangeQuery, exchangeSchema } from './exchange-schemas.ts';
import { selectExchange, selectExchanges } from './exchange-store.ts';
import { exchangeView, statusIn } from './exchange-views.ts';
import { moveExchange } from './move-exchanges.ts';
import { placeExchanges } from './place-exchanges.ts';

const shopper = { auth: 'shopper', tag: 'Points mall' } as const;

/** Exchanges of the shopper who calls. */
export function exchangeRoutes(runtime: Runtime, coupons: CouponIssuer | undefined): Route[] {
  const place = runtime.groupCommit<PlaceExchange, Exchange>(
    'exchange_points',
    (requests, record) => placeExchanges({ runtime, coupons }, requests, record),
    { revive: reviveExchange },
  );
  return [
    defineRoute({
      ...shopper,
      method: 'POST',
      path: '/api/v1/points/products/:id/exchange',
      summary: 'Exchange points for a product',
      description:
        'Goods are sent to address_snapshot, else to the default address. Coupons and virtual goods are there at once.',
      params: idParams,
      body: exchangeBody,
      response: exchangeSchema,
      refuses: [
        ...[mallErrors.product_not_found, mallErrors.off_shelf, mallErrors.sold_out, mallErrors.stock_short],
        ...[mallErrors.limit_per_user, mallErrors.limit_per_day, mallErrors.not_enough_points],
        ...[mallErrors.address_needed, mallErrors.address_incomplete],
        ...[mallErrors.coupon_gone, mallErrors.coupon_refused],
      ],
      repeat: 'recorded',
      statements: 24,
      async handle({ params, body, caller, claim, ...at }) {
        const address = sentAddress(body.address_snapshot);
        const request = { user_id: caller.id, product_id: params.id, qty: body.qty, address };
        return exchangeView(await place(request, claim), mallView(runtime, at));
      },
    }),
    defineRoute({
      ...shopper,
      method: 'GET',
      path: '/api/v1/points/exchanges',
      summary: 'The exchanges of the shopper, newest first',
      query: exchangeQuery,
      response: pagedOf(exchangeSchema, maxMallPage),
      statements: 1,
      async handle({ query, caller, ...at }) {
        const paging = pagingOf(query, { cap: maxMallPage });
        const filter = { user_id: caller.id, status: statusIn(query.status) };
        const { rows, total } = await selectExchanges(runtime.sql, filter, paging);
        const view = mallView(runtime, at);
        return paged(
          rows.map((row) => exchangeView(row, view)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...shopper,
      method: 'GET',
      path: '/api/v1/points/exchanges/:id',
      summary: 'An exchange of the shopper',
      params: idParams,
      response: exchangeSchema,
      refuses: [mallErrors.exchange_not_found],
      statements: 1,
      async handle({ params, caller, ...at }) {
        const exchange = await selectExchange(runtime.sql, params.id, caller.id);
        if (!exchange) throw mallErrors.exchange_not_found();
        return exchangeView(exchange, mallView(runtime, at));
      },
    }),
    defineRoute({
      ...shopper,
      method: 'POST',
      path: '/api/v1/points/exchanges/:id/confirm',
      summary: 'Confirm that an exchange has arrived: it is completed',
      params: idParams,
      response: nothing,
      refuses: [mallErrors.exchange_not_found, mallErrors.cannot_move],
      repeat: 'recorded',
      statements: 2,
      async handle({ params, caller, write, locale }) {
        const by = { userId: caller.id, now: runtime.now(), locale };
        await write((tx) => moveExchange(tx, params.id, 'complete', by));
        return null;
      },
    }),
  ];
}
