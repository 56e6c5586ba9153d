import { batchResultSchema, defineRoute, idParams, largeBody, nothing, type Route } from '@tradepost/http';
import { catalogErrors } from '../errors.ts';
import { batchCategoryBody, batchPriceBody, batchStatusBody } from './batch-schemas.ts';
import { changeCategory, changePrices, changeStatus, deleteProducts } from './change-products.ts';

const tag = 'Products (admin)';
const edit = { auth: 'staff', permission: 'product:edit', tag, response: batchResultSchema } as const;

/** Routes that change many products, or delete one. */
export function batchRoutes(): Route[] {
  return [
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/products/batch/status',
      bodyLimit: largeBody,
      summary: 'Put products on the shelf or take them off',
      body: batchStatusBody,
      statements: 2,
      repeat: 'recorded',
      handle: ({ body, locale, write }) => write((tx) => changeStatus(tx, body.ids, body.status, locale)),
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/products/batch/category',
      bodyLimit: largeBody,
      summary: 'Put products into a category; 0 means no category',
      body: batchCategoryBody,
      refuses: [catalogErrors.no_such_category],
      statements: 3,
      repeat: 'recorded',
      handle: ({ body, locale, write }) => write((tx) => changeCategory(tx, body.ids, body.category_id, locale)),
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/products/batch/price',
      bodyLimit: largeBody,
      summary: 'Set prices, or change them by an amount or a percentage',
      description:
        'Exact to the cent, half a cent away from zero, never below 0, and not to 0 for a product on sale. `origin_price` stays.',
      body: batchPriceBody,
      repeat: 'recorded',
      statements: 3,
      handle({ body, locale, write }) {
        const { type, value, scope = 'all' } = body.adjustment;
        return write((tx) => changePrices(tx, body.ids, { type, value: String(value), scope }, locale));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/api/products/:id',
      auth: 'staff',
      permission: 'product:delete',
      tag,
      summary: 'Delete a product',
      description: 'Refused while open orders hold its stock. Orders and reviews keep what they say about it.',
      params: idParams,
      response: nothing,
      refuses: [catalogErrors.product_not_found, catalogErrors.product_in_orders],
      statements: 3,
      repeat: 'recorded',
      async handle({ params, write }) {
        await write((tx) => deleteProducts(tx, [params.id]));
        return null;
      },
    }),
  ];
}
