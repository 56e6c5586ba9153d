import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Quotes without price steps of other packages; those packages test that an order costs what its quote says. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ only: 'api' });
});
afterAll(() => shop?.close());

test('a quote has the amounts and lines of the order, and writes nothing', async () => {
  const { sku_ids } = await insertProduct(shop.database, { price: 1290, stocks: [10, 10] });
  const { token, address_id } = await shop.shopper();
  const [first, second] = sku_ids;
  await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id: first, qty: 3 } });
  await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id: second, qty: 1 } });
  for (const [selection, lines] of [
    [{ items: [{ sku_id: first }] }, [[first, 3]]],
    [{ sku_ids: [second] }, [[second, 1]]],
    [
      {},
      [
        [first, 3],
        [second, 1],
      ],
    ],
  ] as const) {
    const { data } = await shop.call('POST', '/api/v1/orders/quote', { token, body: selection });
    expect(data.items.map((line: { sku_id: number; qty: number }) => [line.sku_id, line.qty])).toEqual(lines);
    const total = lines.reduce((sum, [, qty]) => sum + qty * 1290, 0) / 100;
    expect(data).toMatchObject({
      ...{ goods_amount: total, discount_amount: 0, freight_amount: 0, total_amount: total, discounts: [] },
      amount_breakdown: { goods_amount: total, discount_amount: 0, freight_amount: 0, payable_amount: total },
    });
    expect(data.items[0]).toMatchObject({
      ...{ activity_product_id: 0, activity_id: 0, activity_type: '', activity_title: '', discounts: [] },
      ...{ origin_price: 12.9, price: 12.9, title: expect.any(String), attrs: expect.stringMatching(/^\[/) },
    });
  }
  const { data: quote } = await shop.call('POST', '/api/v1/orders/quote', { token, body: {} });
  const { data: order } = await shop.call('POST', '/api/v1/orders', { token, body: { address_id } });
  expect(order).toMatchObject({ amount_breakdown: quote.amount_breakdown, discounts: quote.discounts });
});

test('a quote refuses what an order refuses, and only shows the cart of its shopper', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { stocks: [1] });
  const [{ token }, other] = [await shop.shopper(), await shop.shopper()];
  await shop.call('POST', '/api/v1/cart/add', { token: other.token, body: { sku_id: sku_ids[0], qty: 5 } });
  const quote = (body: object) => shop.call('POST', '/api/v1/orders/quote', { token, body });
  expect(await quote({})).toMatchObject({ code: 20001, message: 'Cart is empty' });
  expect(await quote({ items: [{ sku_id: 99_999_999 }] })).toMatchObject({ message: 'No valid products selected' });
  expect((await quote({ items: [{ sku_id: sku_ids[0] }] })).data.items).toMatchObject([{ qty: 1 }]);
  const unknown = { items: [{ sku_id: sku_ids[0], activity_product_id: 99_999_999 }] };
  expect(await quote(unknown)).toMatchObject({ code: 20001 });
  await shop.database.sql`update catalog.products set status = 0 where id = ${id}`;
  expect(await quote({ items: [{ sku_id: sku_ids[0] }] })).toMatchObject({ code: 20001 });
  expect((await shop.call('POST', '/api/v1/orders/quote', { body: {} })).code).toBe(401);
});
