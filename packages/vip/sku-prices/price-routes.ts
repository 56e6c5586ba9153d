import { paged, pagingOf, toMinor } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { vipErrors } from '../errors.ts';
import { filterStatus, isoOf, toRate } from '../fields.ts';
import { maxAdminPage } from '../limits.ts';
import { priceBody, priceChange, priceQuery, priceSchema, priceView } from './price-schemas.ts';
import { deletePrice, selectPrices } from './price-store.ts';
import { addPrice, changePrice } from './save-prices.ts';

const tag = 'Memberships (admin)';
const edit = { auth: 'staff', permission: 'vip:edit', tag, repeat: 'recorded' } as const;
const { price_needed, price_exists, price_not_found, product_unknown, sku_unknown, level_unknown } = vipErrors;
const refused = [price_needed, price_exists, product_unknown, sku_unknown, level_unknown];

export const priceRoutes = (runtime: Runtime): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/admin/api/vip/sku-prices',
    auth: 'staff',
    permission: 'vip:view',
    tag,
    summary: 'Prices of SKUs for members, newest first',
    query: priceQuery,
    response: pagedOf(priceSchema, maxAdminPage),
    statements: 1,
    async handle({ query }) {
      const paging = pagingOf(query, { cap: maxAdminPage });
      const filter = {
        ...{ product_id: query.product_id || null, sku_id: query.sku_id ?? null, level_id: query.level_id || null },
        status: filterStatus(query.status),
      };
      const { rows, total } = await selectPrices(runtime.sql, filter, paging);
      const iso = isoOf(runtime);
      return paged(
        rows.map((row) => priceView(row, iso)),
        total,
        paging,
      );
    },
  }),
  defineRoute({
    ...edit,
    method: 'POST',
    path: '/admin/api/vip/sku-prices',
    summary: 'Add a member price of a SKU, or of all SKUs of a product, for a level',
    description:
      'The price of a SKU takes precedence over the price of its product. A price that is not lower than that of the SKU is ignored.',
    body: priceBody,
    response: priceSchema,
    refuses: refused,
    statements: 3,
    handle: ({ body: { vip_price = 0, vip_discount_rate = 0, status = 1, ...key }, write }) => {
      const iso = isoOf(runtime);
      const price = { ...key, vip_price: toMinor(vip_price), vip_discount_rate: toRate(vip_discount_rate), status };
      return write(async (tx) => priceView(await addPrice(tx, price), iso));
    },
  }),
  defineRoute({
    ...edit,
    method: 'PUT',
    path: '/admin/api/vip/sku-prices/:id',
    summary: 'Change a member price; absent fields stay unchanged',
    params: idParams,
    body: priceChange,
    response: nothing,
    refuses: [...refused, price_not_found],
    statements: 4,
    handle: ({ params, body: { product_id, sku_id, level_id, vip_price, vip_discount_rate, status }, write }) =>
      write(async (tx) => {
        await changePrice(tx, params.id, {
          ...{ product_id, sku_id, level_id, status },
          vip_price: vip_price === undefined ? undefined : toMinor(vip_price),
          vip_discount_rate: vip_discount_rate === undefined ? undefined : toRate(vip_discount_rate),
        });
        return null;
      }),
  }),
  defineRoute({
    ...edit,
    method: 'DELETE',
    path: '/admin/api/vip/sku-prices/:id',
    summary: 'Delete a member price',
    params: idParams,
    response: nothing,
    refuses: [price_not_found],
    statements: 1,
    handle: ({ params, write }) =>
      write(async (tx) => {
        if (!(await deletePrice(tx, params.id))) throw price_not_found();
        return null;
      }),
  }),
];
