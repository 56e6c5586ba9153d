import { paged, pagingOf, toWire } from '@tradepost/core';
import { defineRoute, fileUrls, idParams, largeBody, maxBatch, pagedOf, type Route } from '@tradepost/http';
import { actingSql } from '@tradepost/postgres';
import { type Runtime, shopLocale } from '@tradepost/runtime';
import { selectCategoryPaths } from '../categories/category-store.ts';
import { catalogErrors } from '../errors.ts';
import {
  adminProductDetailView,
  adminProductView,
  adminQuery,
  lowStock,
  productCreateBody,
  productCreated,
  productUpdateBody,
  productUpdated,
} from '../schemas.ts';
import { formTexts, productTexts } from '../shop-texts.ts';
import type { StockOwner } from '../stock-ownership/stock-owner.ts';
import { viewsOf } from '../views.ts';
import { withPicturePaths } from './picture-paths.ts';
import type { Translations } from './product.ts';
import { selectProductRows } from './product-list-store.ts';
import { selectProduct } from './product-store.ts';
import { createProduct, editProduct } from './save-product.ts';

/** The refusals for specifications, prices or the category of a saved product. */
const saveRefusals = [
  catalogErrors.category_not_found,
  catalogErrors.duplicate_spec,
  catalogErrors.empty_spec,
  catalogErrors.too_many_skus,
  catalogErrors.duplicate_override,
  catalogErrors.unknown_override,
  catalogErrors.price_missing,
];
/** Statements of a save that announces stock: one writes the tasks of an external warehouse, one wakes its worker. */
const toAnnounce = 2;

/** Products in the back office, one at a time. */
export function productRoutes(runtime: Runtime, stockOwner: StockOwner): Route[] {
  const { sql, config } = runtime;
  const notifying = stockOwner.announce ? toAnnounce : 0;
  const viewFor = viewsOf(runtime);

  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/products',
      auth: 'staff',
      permission: 'product:view',
      tag: 'Products (admin)',
      summary: 'All products, of any status',
      query: adminQuery,
      response: pagedOf(adminProductView, maxBatch),
      statements: 2,
      async handle({ query, request, locale }) {
        const paging = pagingOf(query, { cap: maxBatch });
        const { status, sort_by } = query;
        const filter = {
          ...{ keyword: query.keyword?.trim() || undefined, status },
          category_id: query.category_id || undefined,
          sellable_max: query.low_stock ? lowStock : undefined,
        };
        const { rows, total } = await selectProductRows(sql, filter, paging, locale, sort_by);
        const view = viewFor(request, locale);
        const paths = await selectCategoryPaths(
          sql,
          rows.map((row) => row.category_id),
          locale,
        );
        const list = rows.map((row) => ({
          id: row.id,
          title: row.title,
          cover: view.fileUrl(row.cover),
          price: toWire(row.price),
          stock: row.sellable,
          favorite_count: row.favorite_count,
          status: row.status,
          category_id: row.category_id,
          category_path_name: paths.get(row.category_id) ?? '',
          sales_count: row.sales,
          sales: row.sales,
          created_at: view.iso(row.created_at),
        }));
        return paged(list, total, paging);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/products/:id',
      auth: 'staff',
      permission: 'product:view',
      tag: 'Products (admin)',
      summary: 'A product for its editor: with inactive SKUs and stock on hand',
      description:
        'The plain texts are those of the shop’s language (`shop.locale`), whatever the language of the request; ' +
        '`translations` has the other languages.',
      params: idParams,
      response: adminProductDetailView,
      statements: 2,
      refuses: [catalogErrors.product_not_found],
      async handle({ params, request }) {
        const product = await selectProduct(sql, params.id);
        if (!product) throw catalogErrors.product_not_found();
        const shop = runtime.settings.get(shopLocale);
        const view = viewFor(request, shop);
        const paths = await selectCategoryPaths(sql, [product.category_id], shop);
        const { id, category_id, status, sort, spec_schema, merchant_id, sales, favorite_count } = product;
        const { title, subtitle, detail } = product;
        const stored = { base: { title, subtitle, detail }, translations: product.translations };
        const texts = formTexts(stored, shop, productTexts);
        return {
          ...{ id, category_id, status, sort, spec_schema, translations: texts.translations as Translations },
          ...(texts.base as typeof stored.base),
          ...{ merchant_id, sales, favorite_count, is_favorited: false },
          cover: view.fileUrl(product.cover),
          price: toWire(product.price),
          origin_price: toWire(product.origin_price),
          stock: product.skus.reduce((sum, sku) => sum + (sku.status === 'active' ? sku.stock : 0), 0),
          category_path_name: paths.get(category_id) ?? '',
          images: product.images.map((image) => ({ ...image, url: view.fileUrl(image.url) })),
          skus: product.skus.map(({ sold: _sold, ...sku }) => ({
            ...sku,
            price: toWire(sku.price),
          })),
          created_at: view.iso(product.created_at),
          updated_at: view.iso(product.updated_at),
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/products',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'product:create',
      tag: 'Products (admin)',
      summary: 'Create a product with its SKU matrix',
      description:
        'The SKUs are the Cartesian product of `spec_schema` (at most 300); without specs there is one default SKU. ' +
        'Where warehouses own the stock, `stock` is ignored and begins with 0.',
      body: productCreateBody,
      response: productCreated,
      refuses: saveRefusals,
      statements: 6 + notifying,
      async handle({ body, request, actor }) {
        const { id, sku_diff } = await createProduct(
          actingSql(sql, actor),
          withPicturePaths(body, fileUrls(request, config).relative),
          stockOwner,
          runtime.settings.get(shopLocale),
        );
        return { id, product: { id, title: body.product.title }, sku_diff };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/products/:id',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'product:edit',
      tag: 'Products (admin)',
      summary: 'Change a product; absent parts stay unchanged',
      description:
        'A plain title, subtitle or detail is the text of the shop’s language; translations of others stay and are marked ' +
        '`outdated`. `translations` replaces those of all other languages. Where warehouses own the stock, `stock` is ignored.',
      params: idParams,
      body: productUpdateBody,
      response: productUpdated,
      statements: 8 + notifying,
      refuses: [
        catalogErrors.product_not_found,
        ...saveRefusals,
        catalogErrors.too_many_former_skus,
        catalogErrors.stock_below_reserved,
      ],
      repeat: 'recorded',
      async handle({ params, body, request, write }) {
        const given = withPicturePaths(body, fileUrls(request, config).relative);
        const shop = runtime.settings.get(shopLocale);
        return { sku_diff: await write((tx) => editProduct(tx, params.id, given, stockOwner, shop)) };
      },
    }),
  ];
}
