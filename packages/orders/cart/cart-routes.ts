import { catalogErrors, productCard, selectFavorited, selectSkusWithProducts, skuView } from '@tradepost/catalog';
import { isoInZone, type Locale } from '@tradepost/core';
import { defineRoute, fileUrls, list, nothing, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { maxLines } from '../limits.ts';
import { cartAddBody, cartKeyParams, cartKeyPart, cartLineView, cartQtyBody } from '../schemas.ts';
import { addToCarts } from './add-to-cart.ts';
import { type CartActivities, cartActivitiesIn } from './cart-activities.ts';
import { type CartLine, deleteCartLine, selectCart, setCartQty } from './cart-store.ts';

export function cartRoutes(runtime: Runtime, entries: readonly CartActivities[]): Route[] {
  const { sql, settings, config } = runtime;
  const activities = cartActivitiesIn(entries);
  const add = runtime.groupCommit<CartLine, true>('cart_add', (lines, record) =>
    addToCarts({ sql, activities }, lines, record),
  );

  /** Lines whose product was deleted are left out, because clients expect `product` and `sku` in every line. */
  const cartView = async (userId: number, request: Request, locale: Locale) => {
    const lines = await selectCart(sql, userId);
    const ofActivities = lines.filter((line) => line.activity_product_id > 0);
    const [goods, snapshots] = await Promise.all([
      selectSkusWithProducts(
        sql,
        lines.map((line) => line.sku_id),
      ),
      ofActivities.length > 0 ? activities.snapshots(sql, userId, ofActivities) : [],
    ]);
    const snapshotOf = new Map(ofActivities.map((line, index) => [line, snapshots[index]]));
    const liked = await selectFavorited(
      sql,
      userId,
      [...goods.values()].map(({ product }) => product.id),
    );
    const zone = settings.get(timeZone);
    const view = {
      locale,
      iso: (at: Date) => isoInZone(at, zone),
      fileUrl: fileUrls(request, config).absolute,
    };
    return lines.flatMap((line) => {
      const { sku_id, activity_product_id, qty } = line;
      const activity_snapshot = snapshotOf.get(line);
      const found = goods.get(sku_id);
      if (!found) return [];
      const product = productCard(found.product, view, liked);
      return [
        {
          ...{ sku_id, activity_product_id, qty, product },
          sku: skuView(found.sku, found.product.translations, locale),
          ...(activity_snapshot && { activity_snapshot }),
        },
      ];
    });
  };

  // The API contract has PUT and POST on this path.
  const setQty = (method: 'PUT' | 'POST') =>
    defineRoute({
      method,
      path: '/api/v1/cart/qty',
      auth: 'shopper',
      tag: 'Cart',
      summary: 'Set the quantity of a line',
      repeat: 'natural',
      body: cartQtyBody,
      statements: 1,
      response: nothing,
      async handle({ caller, body }) {
        await setCartQty(sql, { user_id: caller.id, ...body });
        return null;
      },
    });

  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/cart',
      auth: 'shopper',
      tag: 'Cart',
      summary: 'My cart, in the order in which lines were added',
      statements: 3 + activities.statements.snapshots,
      response: list(cartLineView, maxLines),
      handle: ({ caller, request, locale }) => cartView(caller.id, request, locale),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/cart/add',
      auth: 'shopper',
      tag: 'Cart',
      summary: 'Add a SKU to my cart; the quantity is added to an existing line',
      body: cartAddBody,
      statements: 2 + activities.statements.check,
      response: nothing,
      refuses: [
        ...[orderErrors.activity_not_found, catalogErrors.product_not_found, orderErrors.cart_full],
        ...activities.refuses,
      ],
      repeat: 'recorded',
      async handle({ caller, body, claim }) {
        await add({ user_id: caller.id, ...body, qty: Math.max(1, body.qty) }, claim);
        return null;
      },
    }),
    setQty('PUT'),
    setQty('POST'),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/cart/:sku_id',
      auth: 'shopper',
      tag: 'Cart',
      summary: 'Remove a line',
      params: cartKeyParams,
      query: cartKeyPart,
      body: cartKeyPart,
      repeat: 'natural',
      statements: 1,
      response: nothing,
      async handle({ caller, params, query, body }) {
        const activity_product_id = body.activity_product_id ?? query.activity_product_id ?? 0;
        await deleteCartLine(sql, { user_id: caller.id, sku_id: params.sku_id, activity_product_id });
        return null;
      },
    }),
  ];
}
