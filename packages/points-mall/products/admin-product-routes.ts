import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, fileUrls, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import type { CouponIssuer } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import { mallErrors } from '../errors.ts';
import { maxAdminPage } from '../limits.ts';
import { adminProductQuery, productBody, productChangeBody, productSchema, statusBody } from './product-schemas.ts';
import { selectProducts, updateStatus } from './product-store.ts';
import { mallView, productView } from './product-views.ts';
import { createProduct, editProduct, removeProduct, type SaveContext } from './save-products.ts';

const tag = 'Points mall (admin)';
const edit = { auth: 'staff', permission: 'points_mall:edit', tag } as const;
const formRefusals = [mallErrors.image_address, mallErrors.images_text, mallErrors.coupon_not_found];

export function adminProductRoutes(runtime: Runtime, coupons: CouponIssuer | undefined): Route[] {
  const contextOf = (request: Request): SaveContext => ({
    relative: fileUrls(request, runtime.config).relative,
    coupons,
    now: runtime.now(),
  });
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/points/products',
      auth: 'staff',
      permission: 'points_mall:view',
      tag,
      summary: 'Products for points, by sort, then newest first',
      query: adminProductQuery,
      response: pagedOf(productSchema, maxAdminPage),
      statements: 1,
      async handle({ query, ...at }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const status = query.status === 0 || query.status === 1 ? query.status : null;
        const { rows, total } = await selectProducts(runtime.sql, { type: query.type ?? null, status }, paging);
        const view = mallView(runtime, at);
        return paged(
          rows.map((row) => productView(row, view)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...edit,
      method: 'POST',
      path: '/admin/api/points/products',
      summary: 'Create a product for points',
      body: productBody,
      response: productSchema,
      refuses: [...formRefusals, mallErrors.too_many_products],
      repeat: 'recorded',
      statements: 3,
      handle({ body, write, ...at }) {
        const view = mallView(runtime, at);
        return write(async (tx) => productView(await createProduct(tx, contextOf(at.request), body), view));
      },
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/points/products/:id',
      summary: 'Edit a product for points; absent fields stay unchanged',
      params: idParams,
      body: productChangeBody,
      response: nothing,
      refuses: [mallErrors.product_not_found, ...formRefusals],
      repeat: 'recorded',
      statements: 3,
      async handle({ params, body, write, request }) {
        await write((tx) => editProduct(tx, contextOf(request), params.id, body));
        return null;
      },
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/points/products/:id/status',
      summary: 'Put a product for points on the shelf, or take it off',
      params: idParams,
      body: statusBody,
      response: nothing,
      refuses: [mallErrors.product_not_found],
      repeat: 'recorded',
      statements: 1,
      async handle({ params, body, write }) {
        await write(async (tx) => {
          const found = await updateStatus(tx, [params.id], body.status, runtime.now());
          if (found.length === 0) throw mallErrors.product_not_found();
        });
        return null;
      },
    }),
    defineRoute({
      ...edit,
      method: 'DELETE',
      path: '/admin/api/points/products/:id',
      summary: 'Delete a product for points that has no open exchange',
      params: idParams,
      response: nothing,
      refuses: [mallErrors.product_not_found, mallErrors.open_exchanges],
      repeat: 'recorded',
      statements: 3,
      async handle({ params, write }) {
        await write((tx) => removeProduct(tx, params.id));
        return null;
      },
    }),
  ];
}
