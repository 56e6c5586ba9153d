import { selectSkusForSale } from '@tradepost/catalog';
import { toWire } from '@tradepost/core';
import { amount, defineRoute, fileUrls, id, idOrZero, list, type Route, url } from '@tradepost/http';
import type { PricePipeline } from '@tradepost/pricing';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { selectCarts } from '../cart/cart-store.ts';
import { orderErrors } from '../errors.ts';
import { discountAmount, freightAmount, goodsAmount, payableAmount } from '../example-amounts.ts';
import { maxLines } from '../limits.ts';
import { amountBreakdown, discountsView, lineTexts } from '../orders/order.ts';
import { breakdown, discounts, quoteBody } from '../schemas.ts';
import { activityFields, candidatesOf, cartsOf, type OrderSelection, priceLines } from './order-draft.ts';

/** The fields of the price steps in a body. */
export const choicesIn = (body: Readonly<Record<string, unknown>>, pipeline: Pick<PricePipeline, 'choices'>) =>
  Object.fromEntries(Object.keys(pipeline.choices).map((field) => [field, body[field]]));

const quoteLine = z
  .object({
    sku_id: id(),
    product_id: id(),
    activity_product_id: idOrZero(),
    activity_id: idOrZero(),
    activity_type: z.string().meta({ examples: [''] }),
    activity_title: z.string().meta({ examples: [''] }),
    title: z.string().meta({ examples: ['Enamel mug'] }),
    cover: url(),
    attrs: z.string().meta({ description: 'JSON text', examples: ['[{"name":"Colour","value":"Cream"}]'] }),
    qty: z.int().meta({ examples: [2] }),
    origin_price: amount().meta({ description: 'the price of the SKU' }),
    price: amount().meta({ description: 'the unit price: of the activity, else of the SKU' }),
    discounts,
    payable_amount: payableAmount(),
  })
  .meta({ id: 'QuoteLine' });

const quoteView = z
  .object({
    goods_amount: goodsAmount(),
    discount_amount: discountAmount(),
    freight_amount: freightAmount(),
    total_amount: payableAmount(),
    amount_breakdown: breakdown,
    discounts,
    items: list(quoteLine, maxLines),
  })
  .meta({ id: 'Quote' });

/** What an order of these lines would cost now. It takes no lock, reserves nothing, and does not check the stock. */
export function quoteRoute(runtime: Runtime, pipeline: PricePipeline): Route {
  const { sql } = runtime;
  return defineRoute({
    method: 'POST',
    path: '/api/v1/orders/quote',
    auth: 'shopper',
    tag: 'Orders',
    summary: 'The price of an order before it is placed, with its discounts line by line',
    body: quoteBody(pipeline.choices),
    response: quoteView,
    refuses: [
      orderErrors.cart_empty,
      orderErrors.too_many_lines,
      orderErrors.activity_not_found,
      orderErrors.no_valid_products,
      orderErrors.amount_too_large,
      ...pipeline.refuses,
    ],
    repeat: 'natural',
    statements: 2 + pipeline.statements.quote,
    async handle({ caller, body, request, locale }) {
      const now = runtime.now();
      const selection: OrderSelection = { user_id: caller.id, choices: choicesIn(body, pipeline), ...body };
      const userIds = [caller.id];
      const carts = cartsOf(await selectCarts(sql, userIds));
      const candidates = candidatesOf([selection], carts);
      const [skus, prices] = await Promise.all([
        selectSkusForSale(sql, candidates.skuIds),
        pipeline.load(sql, { requests: [selection], userIds, ...candidates, now, lock: false }),
      ]);
      const cart = carts.get(caller.id) ?? new Map();
      const { lines, priced } = priceLines(selection, { cart, skus, pipeline, prices, now });
      const { absolute } = fileUrls(request, runtime.config);
      return {
        ...{
          goods_amount: toWire(priced.goods_amount),
          discount_amount: toWire(priced.discount_amount),
          freight_amount: toWire(priced.freight_amount),
          total_amount: toWire(priced.total_amount),
        },
        amount_breakdown: amountBreakdown(priced),
        discounts: discountsView(priced.discounts, locale),
        items: lines.map(({ sku, qty, activity_product_id }, index) => {
          const line = priced.lines[index]!;
          const { title, attrs } = lineTexts(sku, locale);
          return {
            ...{ sku_id: sku.id, product_id: sku.product_id, ...activityFields(activity_product_id, line.activity) },
            ...{ title, cover: absolute(sku.cover), attrs: JSON.stringify(attrs), qty },
            origin_price: toWire(sku.price),
            price: toWire(line.price),
            discounts: discountsView(line.discounts, locale),
            payable_amount: toWire(line.payable_amount),
          };
        }),
      };
    },
  });
}
