import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

/** The API contract of the cart. */
let shop: Shop;
let token: string;
let userId: number;
let a: number;
let b: number;
let productId: number;
beforeAll(async () => {
  shop = await openShop();
  const product = await insertProduct(shop.database, { stocks: [5, 7] });
  [a, b] = product.sku_ids as [number, number];
  productId = product.id;
});
beforeEach(async () => {
  ({ token, id: userId } = await shop.shopper());
});
afterAll(() => shop?.close());

type Line = { sku_id: number; activity_product_id: number; qty: number };
const cart = async () => (await shop.call('GET', '/api/v1/cart', { token })).data as Line[];
const brief = async () => (await cart()).map((line) => [line.sku_id, line.activity_product_id, line.qty]);
const add = (body: object) => shop.call('POST', '/api/v1/cart/add', { token, body });
/** Inserts a line with an activity by SQL. Its key differs from that of the line without an activity. */
const addActivityLine = (sku: number, activity: number, qty: number) => shop.database.sql`
  insert into orders.cart_lines (user_id, sku_id, activity_product_id, qty) values (${userId}, ${sku}, ${activity}, ${qty})`;

test('an empty cart is a bare empty array', async () => {
  expect(await cart()).toEqual([]);
});

test('a line has every field of the API contract, with product and SKU', async () => {
  await add({ sku_id: a, qty: 2 });
  const [line] = (await shop.call('GET', '/api/v1/cart', { token })).data;
  expectFields(line, contract.cartLine);
  expectFields(line.product, contract.productCard);
  expectFields(line.sku, contract.sku);
  expect(line).toMatchObject({
    sku_id: a,
    activity_product_id: 0,
    qty: 2,
    product: { id: productId, price: 12.9 },
    sku: { id: a, product_id: productId, price: 12.9 },
  });
  expect(Array.isArray(JSON.parse(line.sku.attrs)), 'a JSON text, not an array').toBe(true);
});

test('texts of a line follow the language', async () => {
  const { id, sku_ids } = await insertProduct(shop.database);
  await shop.database
    .sql`update catalog.products set translations = ${shop.database.sql.json({ 'zh-CN': { title: '搪瓷杯' } })} where id = ${id}`;
  await add({ sku_id: sku_ids[0] });
  const read = async (query: string, lang: string) =>
    (await shop.call('GET', `/api/v1/cart${query}`, { token, lang })).data[0].product.title;
  expect([await read('', 'en'), await read('', 'zh-CN'), await read('?lang=zh-CN', 'en')]).toEqual([
    'Enamel mug',
    '搪瓷杯',
    '搪瓷杯',
  ]);
});

test('lines stay in the order in which they were added, also when a quantity grows', async () => {
  await add({ sku_id: b });
  await add({ sku_id: a });
  await add({ sku_id: b, qty: 3 });
  expect(await brief()).toEqual([
    [b, 0, 4],
    [a, 0, 1],
  ]);
});

describe('add', () => {
  test.each([
    ['no quantity counts as 1', {}, 1],
    ['0 counts as 1', { qty: 0 }, 1],
    ['a negative quantity counts as 1', { qty: -3 }, 1],
    ['"" counts as 1', { qty: '' }, 1],
    ['null counts as 1', { qty: null }, 1],
    ['three', { qty: 3 }, 3],
    ['no activity, sent as 0', { activity_product_id: 0 }, 1],
    ['no activity, sent as ""', { activity_product_id: '' }, 1],
    ['no activity, sent as null', { activity_product_id: null }, 1],
  ])('%s', async (_what, body, qty) => {
    expect(await add({ sku_id: a, ...body })).toMatchObject({ code: 0, data: null });
    expect(await brief()).toEqual([[a, 0, qty]]);
  });

  test('quantities of the same line are added up', async () => {
    await add({ sku_id: a, qty: 2 });
    await add({ sku_id: a, qty: 0 });
    await add({ sku_id: a, qty: 4 });
    expect(await brief()).toEqual([[a, 0, 7]]);
  });

  test('thirty parallel requests add thirty pieces', async () => {
    await Promise.all(Array.from({ length: 30 }, () => add({ sku_id: a })));
    expect(await brief()).toEqual([[a, 0, 30]]);
  });

  test('a cart may have more pieces than the stock; the order checks the stock', async () => {
    expect((await add({ sku_id: a, qty: 50 })).code).toBe(0);
  });

  test.each([
    ['unknown', async () => 2 ** 40],
    ['not on sale', async () => (await insertProduct(shop.database, { status: 0 })).sku_ids[0]!],
    [
      'inactive',
      async () => {
        const { sku_ids } = await insertProduct(shop.database);
        await shop.database.sql`update catalog.product_skus set status = 'inactive' where id = ${sku_ids[0]!}`;
        return sku_ids[0]!;
      },
    ],
  ])('a SKU that is %s is refused and adds no line', async (_what, make) => {
    const sku_id = await make();
    expect(await add({ sku_id })).toMatchObject({ status: 200, code: 10002, message: 'Product not found' });
    const inChinese = await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id }, lang: 'zh-CN' });
    expect(inChinese.message).toMatch(chinese);
    expect(await cart()).toEqual([]);
  });

  test('an unknown activity product is refused', async () => {
    expect((await add({ sku_id: a, activity_product_id: 77 })).code).not.toBe(0);
    expect(await cart()).toEqual([]);
  });

  test('sku_id is required; the refusal names it', async () => {
    for (const body of [{}, { sku_id: null }, { sku_id: '' }, { sku_id: 0 }, { sku_id: 'x' }])
      expect(await add(body)).toMatchObject({ code: 400, message: expect.stringContaining('sku_id') });
  });
});

describe.each(['PUT', 'POST'])('%s /cart/qty', (method) => {
  const setQty = (body: object) => shop.call(method, '/api/v1/cart/qty', { token, body });

  test('sets the quantity instead of adding it', async () => {
    await add({ sku_id: a, qty: 2 });
    expect(await setQty({ sku_id: a, activity_product_id: 0, qty: 5 })).toMatchObject({ code: 0, data: null });
    expect(await brief()).toEqual([[a, 0, 5]]);
    await setQty({ sku_id: a, qty: 1 });
    expect(await brief(), 'without an activity it is the plain line').toEqual([[a, 0, 1]]);
  });

  test.each([0, -1, -100])('%s removes the line', async (qty) => {
    await add({ sku_id: a, qty: 2 });
    await add({ sku_id: b });
    await setQty({ sku_id: a, qty });
    expect(await brief()).toEqual([[b, 0, 1]]);
  });

  test('changes only the line of its activity', async () => {
    await add({ sku_id: a, qty: 2 });
    await addActivityLine(a, 7, 1);
    await setQty({ sku_id: a, activity_product_id: 7, qty: 3 });
    expect(await brief()).toEqual([
      [a, 0, 2],
      [a, 7, 3],
    ]);
    await setQty({ sku_id: a, activity_product_id: 7, qty: 0 });
    expect(await brief()).toEqual([[a, 0, 2]]);
  });

  test('keeps the position of the line', async () => {
    await add({ sku_id: b });
    await add({ sku_id: a });
    await setQty({ sku_id: b, qty: 9 });
    expect(await brief()).toEqual([
      [b, 0, 9],
      [a, 0, 1],
    ]);
  });

  test('of an unknown line changes nothing', async () => {
    await setQty({ sku_id: a, qty: 0 });
    await setQty({ sku_id: 2 ** 40, qty: 5 });
    expect(await cart()).toEqual([]);
  });
});

describe('DELETE /cart/:sku_id', () => {
  const both = async () => {
    await add({ sku_id: a, qty: 2 });
    await addActivityLine(a, 7, 1);
    await add({ sku_id: b });
  };
  test.each([
    ['absent: the line without an activity', '', undefined, [7, 0]],
    ['in the JSON body, as the app does', '', { activity_product_id: 7 }, [0, 0]],
    ['in the query, as the reference does', '?activity_product_id=7', undefined, [0, 0]],
    ['0 in the body', '', { activity_product_id: 0 }, [7, 0]],
    ['0 in the query', '?activity_product_id=0', undefined, [7, 0]],
    ['empty in the query', '?activity_product_id=', undefined, [7, 0]],
    ['null in the body, value in the query', '?activity_product_id=7', { activity_product_id: null }, [0, 0]],
    ['an empty body, value in the query', '?activity_product_id=7', {}, [0, 0]],
  ])('activity_product_id %s', async (_what, query, body, left) => {
    await both();
    expect(await shop.call('DELETE', `/api/v1/cart/${a}${query}`, { token, body })).toMatchObject({
      code: 0,
      data: null,
    });
    expect((await cart()).map((line) => line.activity_product_id)).toEqual(left);
    expect((await cart()).at(-1)).toMatchObject({ sku_id: b });
  });

  test('with a JSON content type and no body', async () => {
    await both();
    const headers = { 'content-type': 'application/json' };
    expect((await shop.call('DELETE', `/api/v1/cart/${a}`, { token, headers })).code).toBe(0);
    expect(await cart()).toHaveLength(2);
  });

  test('of an unknown line is not an error', async () => {
    expect(await shop.call('DELETE', `/api/v1/cart/${2 ** 40}`, { token })).toMatchObject({ code: 0, data: null });
  });
});

test('a line whose SKU was deleted is left out, because clients expect product and sku', async () => {
  const deleted = await insertProduct(shop.database, { stocks: [1, 1] });
  await add({ sku_id: a });
  await add({ sku_id: deleted.sku_ids[0] });
  await shop.database.sql`delete from catalog.products where id = ${deleted.id}`;
  expect(await brief()).toEqual([[a, 0, 1]]);
});

test('a line has the current price and stock', async () => {
  const { sku_ids } = await insertProduct(shop.database, { price: 1000, stocks: [9] });
  await add({ sku_id: sku_ids[0] });
  await shop.database.sql`update catalog.product_skus set price = 1199, stock = 4 where id = ${sku_ids[0]!}`;
  const [line] = (await shop.call('GET', '/api/v1/cart', { token })).data;
  expect(line.sku).toMatchObject({ price: 11.99, stock: 4 });
});
