import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, pagedOf, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { mallErrors } from '../errors.ts';
import { maxMallPage } from '../limits.ts';
import { productSchema, shelfQuery } from './product-schemas.ts';
import { selectProduct, selectProducts } from './product-store.ts';
import { mallView, shelfView } from './product-views.ts';

const tag = 'Points mall';

/** Products for points, as shoppers see them. */
export const shelfRoutes = (runtime: Runtime): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/v1/points/products',
    auth: 'public',
    tag,
    summary: 'Products for points on the shelf, by sort, then newest first',
    query: shelfQuery,
    response: pagedOf(productSchema, maxMallPage),
    statements: 1,
    async handle({ query, ...at }) {
      const paging = pagingOf(query, { cap: maxMallPage });
      const filter = { type: query.type ?? null, status: 1 as const };
      const { rows, total } = await selectProducts(runtime.sql, filter, paging);
      const view = mallView(runtime, at);
      return paged(
        rows.map((row) => shelfView(row, view)),
        total,
        paging,
      );
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/points/products/:id',
    auth: 'public',
    tag,
    summary: 'A product for points on the shelf',
    params: idParams,
    response: productSchema,
    refuses: [mallErrors.product_not_found, mallErrors.off_shelf],
    statements: 1,
    async handle({ params, ...at }) {
      const product = await selectProduct(runtime.sql, params.id);
      if (!product) throw mallErrors.product_not_found();
      if (product.status !== 1) throw mallErrors.off_shelf();
      return shelfView(product, mallView(runtime, at));
    },
  }),
];
