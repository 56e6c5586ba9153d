import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importProducts } from '../csv/import-products.ts';

/** Goods are not sold for nothing by accident: a price of 0 from a blank form field is not stored. */
let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop.close();
});

const admin = (method: string, path: string, body?: object, lang = 'en') =>
  shop.call(method, `/admin/api${path}`, { token, lang, ...(body ? { body } : {}) });
type SkuRow = { sku_key: string; sku_code: string; price: number; stock: number; status: string };
async function skusOf(id: number): Promise<Record<string, [price: number, stock: number, status: string]>> {
  const { skus } = (await admin('GET', `/products/${id}`)).data;
  return Object.fromEntries(skus.map((sku: SkuRow) => [sku.sku_key, [sku.price, sku.stock, sku.status]]));
}
/** The fields that both back-office forms send beside every product. */
const blank = { sku_key: '__default__', sku_code: '', price: 0, stock: 0 };
const sizes = [{ name: 'Size', values: ['S', 'L'] }];
const saved = async (body: object): Promise<number> => {
  const answer = await admin('POST', '/products', { product: { title: 'Cup', price: 12.9, stock: 50 }, ...body });
  expect(answer).toMatchObject({ code: 0 });
  return answer.data.id;
};
const unpriced = { code: 400, message: expect.stringContaining('above 0') };

describe('the blank default row of the forms', () => {
  test('without specifications: the SKU has the price and the stock of the product', async () => {
    const id = await saved({ spec_schema: [], sku_overrides: [blank] });
    expect(await skusOf(id)).toEqual({ __default__: [12.9, 50, 'active'] });
    // Saved again as the form saves it: with another price, and without the product part.
    await admin('PUT', `/products/${id}`, {
      product: { price: 15, stock: 40 },
      spec_schema: [],
      sku_overrides: [blank],
    });
    expect(await skusOf(id)).toEqual({ __default__: [15, 40, 'active'] });
    await admin('PUT', `/products/${id}`, { sku_overrides: [blank] });
    expect(await skusOf(id)).toEqual({ __default__: [15, 40, 'active'] });
  });

  test('beside a matrix: it is not an override, when a product is created or changed', async () => {
    const overrides = [blank, { sku_key: 'Size:L', sku_code: 'L', price: 20, stock: 3 }];
    const id = await saved({ spec_schema: sizes, sku_overrides: overrides });
    const expected = { 'Size:L': [20, 3, 'active'], 'Size:S': [12.9, 0, 'active'] };
    expect(await skusOf(id)).toEqual(expected);
    const put = await admin('PUT', `/products/${id}`, { spec_schema: sizes, sku_overrides: overrides });
    expect(put).toMatchObject({ code: 0, data: { sku_diff: { added: 0, kept: 2, inactivated: 0 } } });
    expect(await skusOf(id)).toEqual(expected);
  });

  test('a default row with values sets them', async () => {
    const id = await saved({ sku_overrides: [{ ...blank, price: 6, stock: 8 }] });
    expect(await skusOf(id)).toEqual({ __default__: [6, 8, 'active'] });
    await admin('PUT', `/products/${id}`, { sku_overrides: [{ sku_key: '__default__', stock: 0 }] });
    expect((await skusOf(id)).__default__![1], 'an explicit stock of 0').toBe(0);
  });
});

describe('a price of 0', () => {
  test('in a row of the matrix means not set: the SKU keeps its price, or gets the price of the product', async () => {
    const id = await saved({ spec_schema: sizes, sku_overrides: [{ sku_key: 'Size:L', price: 20, stock: 3 }] });
    const overrides = [
      { sku_key: 'Size:L', price: 0, stock: 4 },
      { sku_key: 'Size:M', price: 0, stock: 5 },
    ];
    const spec_schema = [{ name: 'Size', values: ['L', 'M'] }];
    await admin('PUT', `/products/${id}`, { spec_schema, sku_overrides: overrides });
    expect(await skusOf(id)).toEqual({
      'Size:L': [20, 4, 'active'],
      'Size:M': [12.9, 5, 'active'],
      'Size:S': [12.9, 0, 'inactive'],
    });
  });

  test('is not what less than half a cent means: it is refused with the name of the field', async () => {
    const id = await saved({ spec_schema: sizes });
    const sku_overrides = [{ sku_key: 'Size:L', price: 0.004, stock: 4 }];
    const message = 'sku_overrides[0].price: must be 0 or at least 0.01';
    expect(await admin('PUT', `/products/${id}`, { sku_overrides })).toMatchObject({ code: 400, message });
    expect((await admin('PUT', `/products/${id}`, { sku_overrides }, 'zh-CN')).message).toMatch(chinese);
  });

  test('of a product on sale is refused with the name of the field, in both languages; a product that is not on sale is a draft', async () => {
    const body = { product: { title: 'Draft', price: 0, stock: 5 } };
    const count = async () => (await shop.database.sql`select count(*)::int as n from catalog.products`)[0]!.n;
    const before = await count();
    expect(await admin('POST', '/products', body)).toMatchObject(unpriced);
    expect((await admin('POST', '/products', body)).message).toContain('product.price');
    expect((await admin('POST', '/products', body, 'zh-CN')).message).toMatch(chinese);
    expect(await count()).toBe(before);

    const id = await saved({ product: { ...body.product, status: 0 } });
    expect(await admin('PUT', `/products/${id}`, { product: { status: 1 } })).toMatchObject(unpriced);
    const { data } = await admin('PUT', '/products/batch/status', { ids: [id], status: 1 });
    expect(data).toEqual({ success_ids: [], fail: [{ id, reason: expect.stringContaining('above 0') }] });
    expect((await admin('GET', `/products/${id}`)).data.status).toBe(0);
    expect((await admin('PUT', `/products/${id}`, { product: { status: 1, price: 3 } })).code).toBe(0);
    expect(await skusOf(id)).toEqual({ __default__: [3, 5, 'active'] });
    expect(await admin('PUT', `/products/${id}`, { product: { price: 0 } })).toMatchObject(unpriced);
  });

  test.each([
    ['set', 0, 'all'],
    ['amount', -20, 'all'],
    ['percent', -100, 'all'],
    ['percent', -99.99, 'product'],
    ['set', 0, 'sku'],
  ])(
    'by a batch change (%s %s, %s) is refused for what is on sale, and for nothing else',
    async (type, value, scope) => {
      const [on, off] = [
        await saved({ spec_schema: sizes }),
        await saved({ product: { title: 'Off', price: 5, status: 0 } }),
      ];
      const { data } = await admin('PUT', '/products/batch/price', {
        ids: [on, off],
        adjustment: { type, value, scope },
      });
      expect(data).toEqual({ success_ids: [off], fail: [{ id: on, reason: expect.stringContaining('above 0') }] });
      expect((await admin('GET', `/products/${on}`)).data.price).toBe(12.9);
      expect(await skusOf(on)).toMatchObject({ 'Size:L': [12.9, 0, 'active'] });
    },
  );

  test('in a catalogue file is refused with its line and column for a product on sale', async () => {
    const text = [
      'handle,title,status,price,sku_code,sku_price,stock',
      'a,Free cup,1,0,FREE-1,,5',
      'b,Fine cup,1,7,FINE-1,0,5',
      'c,Draft cup,0,0,DRAFT-1,,5',
    ].join('\n');
    const faults: object[] = [];
    const done = await importProducts(
      shop.database.sql,
      (async function* () {
        yield Buffer.from(text);
      })(),
      { onFault: (fault) => faults.push(fault) },
    );
    expect(done).toMatchObject({ created: 2, failed: 1 });
    expect(faults).toEqual([{ line: 2, field: 'price', message: expect.stringContaining('above 0') }]);
    const rows = await shop.database.sql`
      select sku_code, price from catalog.product_skus where sku_code in ('FREE-1', 'FINE-1', 'DRAFT-1') order by sku_code`;
    expect(rows.map((row) => [row.sku_code, row.price])).toEqual([
      ['DRAFT-1', 0],
      ['FINE-1', 700],
    ]);
  });
});

test('a product that an older version left on sale without a price cannot be ordered, and the audit reports it', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { price: 0, stocks: [5] });
  const { token: buyer, address_id } = await shop.shopper();
  const asked = { token: buyer, body: { sku_id: sku_ids[0], qty: 1 } };
  expect((await shop.call('POST', '/api/v1/cart/add', asked)).code).toBe(10002);
  const order = { token: buyer, body: { address_id, items: [{ sku_id: sku_ids[0] }] } };
  expect(await shop.call('POST', '/api/v1/orders', order)).toMatchObject({ code: 20001 });
  expect(JSON.stringify(await auditViolations(shop.database.sql))).toContain('catalog.unpriced');
  await shop.database.sql`update catalog.products set status = 0 where id = ${id}`;
});
