import { createStaff } from '@tradepost/identity';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields, expectMoneyAddsUp, noAfterSale } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The API contract of the back office: products, orders and shipping. */
let shop: Shop;
let token: string;
let staffId: number;
beforeAll(async () => {
  shop = await openShop({}, { 'delivery_router.delivery_mode': 'both' });
  staffId = await createStaff(shop.server.runtime.sql, { username: 'boss', password: 'boss-secret' });
  token = await shop.login('boss', 'boss-secret');
});
afterAll(() => shop?.close());

const admin = (method: string, path: string, body?: object, lang?: string) =>
  shop.call(method, `/admin/api${path}`, { token, body, ...(lang ? { lang } : {}) });
const product = async (id: number) => (await admin('GET', `/products/${id}`)).data;
const create = async (body: object) => (await admin('POST', '/products', body)).data;

/** A product with two times two specifications, as the console sends it. */
const mug = {
  product: {
    title: 'Mug',
    subtitle: 'Light',
    price: 12.9,
    origin_price: 15.9,
    stock: 0,
    category_id: '',
    cover: '',
    status: 1,
    detail: { version: 1, blocks: [] },
  },
  images: [
    { url: 'https://cdn.example/a.jpg', sort: 0 },
    { url: 'https://cdn.example/b.jpg', sort: 1 },
  ],
  sku_generation_mode: 'auto',
  spec_schema: [
    { name: 'Size', values: ['M', 'L'] },
    { name: 'Colour', values: ['Navy', 'Cream'] },
  ],
  sku_overrides: [
    { sku_key: 'Colour:Cream|Size:L', sku_code: 'C-L', price: 14.9, stock: 7 },
    { sku_key: 'Colour:Navy|Size:M', sku_code: 'N-M', price: 12.9, stock: 3 },
  ],
};
const brief = (data: { skus: { sku_key: string; sku_code: string; price: number; stock: number; status: string }[] }) =>
  data.skus.map((sku) => [sku.sku_key, sku.sku_code, sku.price, sku.stock, sku.status]);

describe('product list', () => {
  test('rows have every field of the API contract, all statuses are listed, and sales has both names', async () => {
    const on = await insertProduct(shop.database, { title: 'Listed on' });
    const off = await insertProduct(shop.database, { title: 'Listed off', status: 0 });
    const { data } = await admin('GET', '/products?keyword=Listed');
    expectFields(data, contract.paged);
    for (const row of data.list) {
      expectFields(row, contract.adminProduct);
      expect(row.sales).toBe(row.sales_count);
    }
    expect(data.list.map((row: { id: number }) => row.id)).toEqual([off.id, on.id]);
  });

  test('category_path_name has the form "A / B / C"', async () => {
    const { sql } = shop.database;
    let parent = 0;
    for (const name of ['Home', 'Kitchen', 'Mugs']) {
      const [row] = await sql<
        { id: number }[]
      >`insert into catalog.categories (name, parent_id) values (${name}, ${parent}) returning id`;
      parent = row!.id;
    }
    const { id } = await create({ product: { title: 'Pathed', price: 1, category_id: parent } });
    expect((await admin('GET', '/products?keyword=Pathed')).data.list[0].category_path_name).toBe(
      'Home / Kitchen / Mugs',
    );
    expect((await product(id)).category_path_name).toBe('Home / Kitchen / Mugs');
    expect((await admin('GET', `/products?category_id=${parent}`)).data.list).toHaveLength(1);
  });

  test('status is a filter; empty filters, as both clients send them, are ignored', async () => {
    const total = async (query: string) => (await admin('GET', `/products?keyword=Listed${query}`)).data.total;
    expect([await total('&status=0'), await total('&status=1')]).toEqual([1, 1]);
    for (const query of ['', '&status=', '&category_id=&status=&page=&size=', '&category_id=0', '&sort_by=&low_stock='])
      expect(await total(query), query).toBe(2);
    expect(await total('&low_stock=false'), '"false" means not set').toBe(2);
  });

  describe('paging', () => {
    beforeAll(async () => {
      await shop.database
        .sql`insert into catalog.products (title, price) select 'Paged ' || n, 100 from generate_series(1, 250) as n`;
    });
    test.each([
      ['', 1, 20, 20],
      ['&size=200', 1, 200, 200],
      ['&size=1000', 1, 1000, 250],
      ['&size=1001', 1, 20, 20],
      ['&size=0', 1, 20, 20],
      ['&size=-2', 1, 20, 20],
      ['&page=0', 1, 20, 20],
      ['&page=13', 13, 20, 10],
      ['&page=99', 99, 20, 0],
    ])('"%s"', async (query, page, size, rows) => {
      const { data } = await admin('GET', `/products?keyword=Paged${query}`);
      expect(data.list).toHaveLength(rows);
      expect(data).toMatchObject({ page, size, total: 250 });
    });
  });

  test('low_stock=true lists products with ten pieces or fewer', async () => {
    await insertProduct(shop.database, { title: 'Scarce few', stocks: [10] });
    await insertProduct(shop.database, { title: 'Scarce many', stocks: [11] });
    expect((await admin('GET', '/products?keyword=Scarce&low_stock=true')).data.total).toBe(1);
  });
  test('sort_by orders by sales, stock, price or age', async () => {
    const cheap = await insertProduct(shop.database, { title: 'Sorted a', price: 100, stocks: [9] });
    const expensive = await insertProduct(shop.database, { title: 'Sorted b', price: 900, stocks: [1] });
    const ids = async (by: string) =>
      (await admin('GET', `/products?keyword=Sorted&sort_by=${by}`)).data.list.map((row: { id: number }) => row.id);
    expect(await ids('price_asc')).toEqual([cheap.id, expensive.id]);
    expect(await ids('price_desc')).toEqual([expensive.id, cheap.id]);
    expect(await ids('stock')).toEqual([cheap.id, expensive.id]);
    expect(await ids('created')).toEqual([expensive.id, cheap.id]);
  });
});

describe('creating a product', () => {
  test('returns its id in both fields and the outcome of the SKUs', async () => {
    const data = await create(mug);
    expectFields(data, 'id i, product o, sku_diff o');
    expectFields(data.sku_diff, contract.skuDiff);
    expect(data).toMatchObject({ product: { id: data.id }, sku_diff: { added: 4, kept: 0, inactivated: 0 } });
  });

  test('the editor gets every field of the API contract, attributes as an array', async () => {
    const { id } = await create(mug);
    const data = await product(id);
    expectFields(data, contract.adminProductDetail);
    for (const sku of data.skus) {
      expectFields(sku, contract.adminSku);
      for (const attr of sku.attrs) expectFields(attr, 'name s, value s');
    }
    for (const image of data.images) expectFields(image, 'url s, sort i');
    expect(data).toMatchObject({
      id,
      title: 'Mug',
      subtitle: 'Light',
      price: 12.9,
      origin_price: 15.9,
      stock: 10,
      category_id: 0,
      status: 1,
      detail: { version: 1, blocks: [] },
    });
    expect(data.images).toMatchObject(mug.images);
  });

  test('an unknown product gets code 10002', async () => {
    for (const method of ['GET', 'PUT'])
      expect(await admin(method, `/products/${2 ** 40}`, method === 'PUT' ? {} : undefined)).toMatchObject({
        status: 200,
        code: 10002,
        message: 'Product not found',
      });
    expect((await admin('GET', `/products/${2 ** 40}`, undefined, 'zh-CN')).message).toMatch(chinese);
  });

  test('keys are name:value sorted by name, joined with |; groups and values are sorted', async () => {
    const { id } = await create(mug);
    const data = await product(id);
    expect(brief(data)).toEqual([
      ['Colour:Cream|Size:L', 'C-L', 14.9, 7, 'active'],
      ['Colour:Cream|Size:M', '', 12.9, 0, 'active'],
      ['Colour:Navy|Size:L', '', 12.9, 0, 'active'],
      ['Colour:Navy|Size:M', 'N-M', 12.9, 3, 'active'],
    ]);
    expect(data.skus[0].attrs).toEqual([
      { name: 'Colour', value: 'Cream' },
      { name: 'Size', value: 'L' },
    ]);
    expect(data.spec_schema).toEqual([
      { name: 'Colour', values: ['Cream', 'Navy'] },
      { name: 'Size', values: ['L', 'M'] },
    ]);
  });

  test('values are trimmed, and repeated ones dropped', async () => {
    const { id } = await create({
      product: { title: 'Trimmed', price: 1 },
      spec_schema: [{ name: ' Size ', values: [' M', 'M ', 'M', ' ', ''] }],
    });
    expect((await product(id)).skus.map((sku: { sku_key: string }) => sku.sku_key)).toEqual(['Size:M']);
  });

  test.each([
    ['empty', { spec_schema: [], sku_overrides: [] }],
    ['absent', {}],
    ['null', { spec_schema: null, sku_overrides: null, images: null }],
  ])('no specifications (%s): one default SKU with price and stock of the product', async (_what, more) => {
    const { id, sku_diff } = await create({ product: { title: 'Plain', price: 9.99, stock: 12 }, ...more });
    expect(sku_diff).toEqual({ added: 1, kept: 0, inactivated: 0 });
    expect(brief(await product(id))).toEqual([['__default__', '', 9.99, 12, 'active']]);
  });

  test('an override may name the default SKU', async () => {
    const { id } = await create({
      product: { title: 'Plain', price: 5, stock: 1 },
      sku_overrides: [{ sku_key: '__default__', sku_code: 'P', price: 6, stock: 8 }],
    });
    expect(brief(await product(id))).toEqual([['__default__', 'P', 6, 8, 'active']]);
  });

  test.each([
    ['300 combinations are accepted', [10, 30], 0],
    ['301 and more are refused', [7, 43], 400],
    ['three groups of 300', [300, 300, 300], 400],
  ])('%s', async (_what, sizes, code) => {
    const spec_schema = (sizes as number[]).map((n, i) => ({
      name: `G${i}`,
      values: Array.from({ length: n }, (_, v) => `v${v}`),
    }));
    expect((await admin('POST', '/products', { product: { title: 'Many', price: 1 }, spec_schema })).code).toBe(code);
  });

  test.each([
    [
      'a group twice',
      {
        spec_schema: [
          { name: 'A', values: ['1'] },
          { name: ' A ', values: ['2'] },
        ],
      },
      'A',
    ],
    [
      'two groups with the same key',
      {
        spec_schema: [
          { name: 'A', values: ['1|B:2', '1'] },
          { name: 'B', values: ['2', '2|B:2'] },
        ],
      },
      'spec_schema',
    ],
    ['an override without a SKU', { sku_overrides: [{ sku_key: 'Size:XL', stock: 1 }] }, 'Size:XL'],
    ['an override twice', { sku_overrides: [{ sku_key: '__default__' }, { sku_key: '__default__' }] }, '__default__'],
    ['a group without values', { spec_schema: [{ name: 'A', values: [' '] }] }, 'A'],
    ['no title', { product: { price: 1 } }, 'title'],
    ['a blank title', { product: { title: '  ', price: 1 } }, 'title'],
    ['a negative price', { product: { title: 'x', price: -1 } }, 'price'],
    ['a negative stock', { product: { title: 'x', price: 1, stock: -1 } }, 'stock'],
    ['an unknown category', { product: { title: 'x', price: 1, category_id: 2 ** 40 } }, 'category_id'],
  ])('%s is refused and nothing is created', async (_what, body, named) => {
    const count = async () => (await shop.database.sql`select count(*)::int as n from catalog.products`)[0]!.n;
    const before = await count();
    const answer = await admin('POST', '/products', { product: { title: 'Refused', price: 1 }, ...body });
    expect(answer).toMatchObject({ status: 200, code: 400, message: expect.stringContaining(named) });
    expect(await count()).toBe(before);
  });

  test.each([
    ['an object', { version: 1, blocks: [{ id: 'a', type: 'image', props: { url: 'x' } }] }, 1],
    ['its JSON text', '{"version":1,"blocks":[{"id":"a","type":"text","props":{}}]}', 1],
    ['blank', '', 0],
    ['null', null, 0],
    ['not JSON', '{oops', 0],
    ['an array', [], 0],
    ['another version', { version: 2, blocks: [] }, 0],
  ])('a detail sent as %s is stored in the right form', async (_what, detail, blocks) => {
    const { id } = await create({ product: { title: 'Detailed', price: 1, detail } });
    const stored = (await product(id)).detail;
    expect(stored).toMatchObject({ version: 1 });
    expect(stored.blocks).toHaveLength(blocks);
  });

  test('"" for category and origin_price, as the editors send them, is 0', async () => {
    const { id } = await create({
      product: { title: 'Blank', price: 1, origin_price: '', category_id: '', stock: '' },
    });
    expect(await product(id)).toMatchObject({ origin_price: 0, category_id: 0, stock: 0 });
  });

  test('prices keep their cents', async () => {
    for (const price of [0.01, 0.29, 1.1, 19.99, 1234.56, 9999999.99]) {
      const { id } = await create({ product: { title: 'Cents', price } });
      expect((await product(id)).price).toBe(price);
    }
  });
});

describe('editing a product', () => {
  test('a change of the sale status changes nothing else', async () => {
    const { id } = await create(mug);
    const before = await product(id);
    const { data } = await admin('PUT', `/products/${id}`, { product: { status: 0 } });
    expectFields(data.sku_diff, contract.skuDiff);
    expect(data.sku_diff).toMatchObject({ added: 0, inactivated: 0 });
    const after = await product(id);
    expect({ ...after, updated_at: '' }).toEqual({ ...before, status: 0, updated_at: '' });
  });

  test('a new matrix keeps matching keys, adds new ones, marks missing ones inactive', async () => {
    const { id } = await create(mug);
    const ids = new Map((await product(id)).skus.map((sku: { sku_key: string; id: number }) => [sku.sku_key, sku.id]));
    const { data } = await admin('PUT', `/products/${id}`, {
      spec_schema: [
        { name: 'Size', values: ['L', 'XL'] },
        { name: 'Colour', values: ['Cream', 'Navy'] },
      ],
      sku_overrides: [
        { sku_key: 'Colour:Cream|Size:L', price: 15.5, stock: 9 },
        { sku_key: 'Colour:Navy|Size:XL', stock: 2 },
      ],
    });
    expect(data.sku_diff).toEqual({ added: 2, kept: 2, inactivated: 2 });
    const after = await product(id);
    const bySku = Object.fromEntries(brief(after).map(([key, ...rest]) => [key, rest]));
    expect(bySku['Colour:Cream|Size:L'], 'overwritten, its code kept').toEqual(['C-L', 15.5, 9, 'active']);
    expect(bySku['Colour:Navy|Size:XL']).toEqual(['', 12.9, 2, 'active']);
    expect(bySku['Colour:Navy|Size:M'], 'inactive, with its price and stock').toEqual(['N-M', 12.9, 3, 'inactive']);
    for (const sku of after.skus)
      if (ids.has(sku.sku_key)) expect(sku.id, 'a kept SKU keeps its id: carts hold it').toBe(ids.get(sku.sku_key));
    const detail = (await shop.call('GET', `/api/v1/products/${id}`)).data;
    expect(detail.skus).toHaveLength(4);
    expect(detail.stock, 'inactive SKUs are not counted').toBe(11);
  });

  test('a combination that returns is the old SKU, active again', async () => {
    const { id } = await create(mug);
    const before = (await product(id)).skus.map((sku: { id: number }) => sku.id);
    await admin('PUT', `/products/${id}`, {
      spec_schema: [
        { name: 'Size', values: ['M'] },
        { name: 'Colour', values: ['Cream'] },
      ],
    });
    const { data } = await admin('PUT', `/products/${id}`, { spec_schema: mug.spec_schema });
    expect(data.sku_diff).toEqual({ added: 0, kept: 4, inactivated: 0 });
    const after = (await product(id)).skus;
    expect(after.map((sku: { id: number }) => sku.id)).toEqual(before);
    expect(after.every((sku: { status: string }) => sku.status === 'active')).toBe(true);
  });

  test('from specifications to none and back', async () => {
    const { id } = await create(mug);
    const { data } = await admin('PUT', `/products/${id}`, { product: { stock: 5 }, spec_schema: [] });
    expect(data.sku_diff).toEqual({ added: 1, kept: 0, inactivated: 4 });
    expect(brief(await product(id)).filter((sku) => sku[4] === 'active')).toEqual([
      ['__default__', '', 12.9, 5, 'active'],
    ]);
    expect((await admin('PUT', `/products/${id}`, { spec_schema: mug.spec_schema })).data.sku_diff).toEqual({
      added: 0,
      kept: 4,
      inactivated: 1,
    });
  });

  test('images stay when absent, are replaced when sent, and removed by an empty list', async () => {
    const { id } = await create(mug);
    const images = async () => (await product(id)).images;
    await admin('PUT', `/products/${id}`, { product: { title: 'Mug 2' } });
    expect(await images()).toMatchObject(mug.images);
    await admin('PUT', `/products/${id}`, { images: null });
    expect(await images()).toMatchObject(mug.images);
    await admin('PUT', `/products/${id}`, { images: [{ url: 'https://cdn.example/c.jpg' }] });
    expect(await images()).toMatchObject([{ url: 'https://cdn.example/c.jpg', sort: 0 }]);
    await admin('PUT', `/products/${id}`, { images: [] });
    expect(await images()).toMatchObject([]);
  });

  test('the console can send the whole detail back without a change', async () => {
    const { id } = await create(mug);
    const before = await product(id);
    const { skus, images, spec_schema, ...fields } = before;
    const sku_overrides = skus.map(({ sku_key, sku_code, price, stock }: Record<string, unknown>) => ({
      sku_key,
      sku_code,
      price,
      stock,
    }));
    const { data } = await admin('PUT', `/products/${id}`, {
      product: fields,
      images,
      spec_schema,
      sku_overrides,
      skus,
      sku_generation_mode: 'auto',
    });
    expect(data.sku_diff).toEqual({ added: 0, kept: 4, inactivated: 0 });
    expect({ ...(await product(id)), updated_at: '' }).toEqual({ ...before, updated_at: '' });
  });

  test('picture URLs of the shop stay the same when they are sent back under another host name', async () => {
    const { id } = await create({ product: { title: 'Pictured', price: 1, cover: '/uploads/demo/enamel-mug.svg' } });
    const { cover } = await product(id);
    expect(cover).toBe(`${shop.url}/uploads/demo/enamel-mug.svg`);
    await admin('PUT', `/products/${id}`, { product: { cover }, images: [{ url: cover }] });
    const [row] = await shop.database.sql`select cover from catalog.products where id = ${id}`;
    expect(row!.cover).toBe('/uploads/demo/enamel-mug.svg');
  });

  test('stock cannot fall below the reserved quantity; the refusal has the reason and changes nothing', async () => {
    const { id } = await create(mug);
    const sku = (await product(id)).skus.find((s: { sku_code: string }) => s.sku_code === 'C-L');
    const ann = await shop.shopper();
    await shop.call('POST', '/api/v1/cart/add', { token: ann.token, body: { sku_id: sku.id, qty: 4 } });
    const order = await shop.call('POST', '/api/v1/orders', { token: ann.token, body: { address_id: ann.address_id } });
    const before = await product(id);
    const set = (stock: number, lang?: string) =>
      admin(
        'PUT',
        `/products/${id}`,
        { product: { title: 'Never' }, sku_overrides: [{ sku_key: sku.sku_key, stock }] },
        lang,
      );
    const refused = await set(3);
    expect(refused).toMatchObject({ status: 200, message: expect.stringContaining('4') });
    expect(refused.code).not.toBe(0);
    expect((await set(3, 'zh-CN')).message).toMatch(chinese);
    expect(await product(id)).toEqual(before);
    expect((await set(4)).code).toBe(0);
    await shop.call('POST', `/api/v1/orders/${order.data.id}/cancel`, { token: ann.token });
    expect((await set(0)).code).toBe(0);
  });

  test('an order of a SKU that became inactive can still be paid', async () => {
    const { id } = await create(mug);
    const sku = (await product(id)).skus.find((s: { sku_code: string }) => s.sku_code === 'N-M');
    const ann = await shop.shopper();
    const order = await shop.call('POST', '/api/v1/orders', {
      token: ann.token,
      body: { address_id: ann.address_id, items: [{ sku_id: sku.id }] },
    });
    await admin('PUT', `/products/${id}`, {
      spec_schema: [
        { name: 'Size', values: ['L'] },
        { name: 'Colour', values: ['Cream'] },
      ],
    });
    expect((await shop.call('POST', `/api/v1/orders/${order.data.id}/pay`, { token: ann.token })).code).toBe(0);
  });

  test('a new price of a plain product is the price of its SKU', async () => {
    const { id } = await create({ product: { title: 'Plain', price: 5, stock: 3 } });
    await admin('PUT', `/products/${id}`, { product: { price: 7.5 } });
    expect(brief(await product(id))).toEqual([['__default__', '', 7.5, 3, 'active']]);
  });
});

/** Makes an order of one shopper in the requested state. */
async function orderIn(state: 'unpaid' | 'paid' | 'cancelled' | 'shipped') {
  const ann = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { title: 'Shipped mug', stocks: [9, 9] });
  const items = sku_ids.map((sku_id) => ({ sku_id }));
  const { data } = await shop.call('POST', '/api/v1/orders', {
    token: ann.token,
    body: { address_id: ann.address_id, items },
  });
  if (state === 'cancelled') await shop.call('POST', `/api/v1/orders/${data.id}/cancel`, { token: ann.token });
  if (state === 'paid' || state === 'shipped')
    await shop.call('POST', `/api/v1/orders/${data.id}/pay`, { token: ann.token });
  if (state === 'shipped')
    await admin('PUT', `/orders/${data.id}/ship`, { ship_type: 'initial', company: 'SF', tracking_no: 'SF1' });
  return { id: data.id as number, order_no: data.order_no as string, ann };
}

describe('orders', () => {
  test('list and detail have every field of the API contract', async () => {
    const { id, ann } = await orderIn('shipped');
    const list = (await admin('GET', '/orders')).data;
    expectFields(list, contract.paged);
    const listed = list.list.find((order: { id: number }) => order.id === id);
    for (const order of [listed, (await admin('GET', `/orders/${id}`)).data]) {
      expectFields(order, `${contract.order}, ${contract.orderView}, ${contract.adminOrder}`);
      expectFields(order.latest_shipment, contract.shipment);
      for (const item of order.items) expectFields(item, contract.orderItem);
      for (const shipment of order.shipments) expectFields(shipment, contract.shipment);
      expectMoneyAddsUp(order);
      expect(order).toMatchObject({
        user_id: ann.id,
        user_nickname: ann.username,
        pay_amount: order.total_amount,
        pay_method: 'wechat',
        receiver_name: 'Ann',
        receiver_phone: '13800000000',
        has_after_sale: false,
        after_sale_summary: { ...noAfterSale, can_apply: true },
        notes: [],
        status: 3,
        status_label: 'Pending Receipt',
      });
      for (const part of ['Zhejiang', 'Hangzhou', 'Xihu', '1 Road']) expect(order.receiver_address).toContain(part);
    }
  });

  test('newest first; status filters; 0, empty and absent are all', async () => {
    const unpaid = await orderIn('unpaid');
    const paid = await orderIn('paid');
    const get = async (query: string) => (await admin('GET', `/orders${query}`)).data;
    const all = await get('');
    expect(all.list.slice(0, 2).map((order: { id: number }) => order.id)).toEqual([paid.id, unpaid.id]);
    for (const query of [
      '?status=0',
      '?status=',
      '?status=&page=&size=&keyword=&time_start=&amount_min=&has_after_sale=false',
    ])
      expect((await get(query)).total, query).toBe(all.total);
    expect((await get('?status=2')).list.every((order: { status: number }) => order.status === 2)).toBe(true);
    expect((await get('?status=2')).list[0].id).toBe(paid.id);
    expect(await get('?status=5')).toMatchObject({ list: [], total: 0 });
    expect(await get('?size=1000')).toMatchObject({ size: 1000 });
    expect(await get('?size=1001')).toMatchObject({ size: 20 });
  });

  test('labels follow the language', async () => {
    const { id } = await orderIn('shipped');
    const labelsIn = async (lang: string) => {
      const { data } = await admin('GET', `/orders/${id}?lang=${lang}`);
      const labelsOf = (of: object) => Object.entries(of).filter(([field]) => field.endsWith('_label'));
      return Object.fromEntries([...labelsOf(data), ...labelsOf(data.latest_shipment)]);
    };
    expect(await labelsIn('en')).toEqual({
      ...{ status_label: 'Pending Receipt', inventory_status_label: 'Deducted', payment_method_label: 'WeChat Pay' },
      ...{ delivery_type_label: 'Express', direction_label: 'Outbound', biz_type_label: 'Initial' },
      ...{ logistics_status_label: 'Shipped', created_by_type_label: 'Merchant', company_label: 'SF Express' },
    });
    for (const label of Object.values(await labelsIn('zh-CN'))) expect(label).toMatch(chinese);
  });

  test('an unknown order gets code 404', async () => {
    expect(await admin('GET', `/orders/${2 ** 40}`)).toMatchObject({
      status: 200,
      code: 404,
      message: 'Order not found',
    });
    expect(await admin('PUT', `/orders/${2 ** 40}/ship`, { company: 'SF', tracking_no: '1' })).toMatchObject({
      status: 200,
      code: 404,
      message: 'Order not found',
    });
  });
});

describe('shipping', () => {
  const express = { ship_type: 'initial', delivery_type: 'express', company: 'SF', tracking_no: 'SF100' };
  const local = { ship_type: 'initial', delivery_type: 'local', rider_name: 'Wang', rider_phone: '13900000000' };

  test.each([
    [
      'express',
      express,
      { delivery_type: 'express', company: 'SF', tracking_no: 'SF100', rider_name: '', delivery_type_label: 'Express' },
    ],
    [
      'express by default, company in small letters',
      { company: 'jd', tracking_no: 'J1' },
      { delivery_type: 'express', company: 'JD', tracking_no: 'J1' },
    ],
    [
      'local',
      local,
      {
        delivery_type: 'local',
        company: '',
        tracking_no: '',
        rider_name: 'Wang',
        rider_phone: '13900000000',
        delivery_type_label: 'Local Delivery',
      },
    ],
    [
      'unused fields empty, as the console sends them',
      { ...express, rider_name: '', rider_phone: '', after_sale_case_id: '', remark: '' },
      { company: 'SF' },
    ],
    [
      'unused fields null',
      { ...express, rider_name: null, rider_phone: null, after_sale_case_id: null, remark: null },
      { company: 'SF' },
    ],
    ['with a remark', { ...express, remark: 'Two parcels' }, { remark: 'Two parcels' }],
  ])('%s: 2 becomes 3, and the shopper gets the shipment', async (_what, body, expected) => {
    const { id, ann } = await orderIn('paid');
    expect(await admin('PUT', `/orders/${id}/ship`, body)).toMatchObject({ code: 0, data: null });
    const { data } = await shop.call('GET', `/api/v1/orders/${id}`, { token: ann.token });
    expectFields(data.latest_shipment, contract.shipment);
    expect(data).toMatchObject({
      status: 3,
      status_label: 'Pending Receipt',
      tracking_no: data.latest_shipment.tracking_no,
    });
    expect(data.shipments).toEqual([data.latest_shipment]);
    expect(data.latest_shipment).toMatchObject({
      order_id: id,
      after_sale_case_id: 0,
      direction: 'outbound',
      direction_label: 'Outbound',
      biz_type: 'initial',
      biz_type_label: 'Initial',
      channel_provider: '',
      sync_fail_count: 0,
      last_query_at: null,
      signed_at: null,
      created_by_type: 'admin',
      created_by_id: staffId,
      ...expected,
    });
    expectFields(data.latest_shipment, 'shipped_at t');
    const history = await shop.database.sql`
      select from_status, to_status, trigger, actor_type, actor_id from orders.order_history where order_id = ${id} order by id desc limit 1`;
    expect(Object.values(history[0]!)).toEqual([2, 3, 'ship', 'admin', staffId]);
  });

  test.each([
    ['without a company', { ...express, company: '' }, 500, 'Please select an express company'],
    ['with a blank company', { ...express, company: '  ' }, 500, 'Please select an express company'],
    ['without a tracking number', { ...express, tracking_no: '' }, 500, 'Tracking number is required'],
    ['local without a rider', { ...local, rider_name: '' }, 500, 'Rider name is required'],
    ['local without a phone', { ...local, rider_phone: '' }, 500, 'Rider phone is required'],
    ['a reship without a case', { ...express, ship_type: 'reship' }, 500, 'Reship requires an after-sale case'],
    [
      'a reship for a case of another order',
      { ...express, ship_type: 'reship', after_sale_case_id: 99 },
      500,
      'After-sale case does not match order',
    ],
    ['another ship_type', { ...express, ship_type: 'teleport' }, 400, 'ship_type'],
    ['another delivery_type', { ...express, delivery_type: 'teleport' }, 400, 'delivery_type'],
  ])('%s is refused and changes nothing', async (_what, body, code, message) => {
    const { id } = await orderIn('paid');
    expect(await admin('PUT', `/orders/${id}/ship`, body)).toMatchObject({
      status: 200,
      code,
      message: expect.stringContaining(message),
    });
    const inChinese = await admin('PUT', `/orders/${id}/ship`, body, 'zh-CN');
    expect(inChinese.message).toMatch(chinese);
    expect((await admin('GET', `/orders/${id}`)).data).toMatchObject({ status: 2, shipments: [] });
  });

  test.each(['unpaid', 'cancelled', 'shipped'] as const)('an order that is %s can not be shipped', async (state) => {
    const { id } = await orderIn(state);
    const before = (await admin('GET', `/orders/${id}`)).data;
    expect(await admin('PUT', `/orders/${id}/ship`, express)).toMatchObject({
      status: 200,
      code: 500,
      message: 'Cannot ship in current status',
    });
    expect((await admin('PUT', `/orders/${id}/ship`, express, 'zh-CN')).message).toMatch(chinese);
    expect((await admin('GET', `/orders/${id}`)).data).toEqual(before);
  });

  test('a shipped order can be neither paid nor cancelled any more', async () => {
    const { id, ann } = await orderIn('shipped');
    for (const act of ['pay', 'cancel'])
      expect(await shop.call('POST', `/api/v1/orders/${id}/${act}`, { token: ann.token })).toMatchObject({ code: 500 });
  });

  test('ten parallel requests ship once', async () => {
    const { id } = await orderIn('paid');
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => admin('PUT', `/orders/${id}/ship`, { ...express, tracking_no: `T${i}` })),
    );
    expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1);
    expect((await admin('GET', `/orders/${id}`)).data.shipments).toHaveLength(1);
  });
});

describe('permissions', () => {
  const needed: [string, string, string][] = [
    ['GET', '/products', 'product:view'],
    ['GET', '/products/1', 'product:view'],
    ['POST', '/products', 'product:create'],
    ['PUT', '/products/1', 'product:edit'],
    ['GET', '/orders', 'order:view'],
    ['GET', '/orders/1', 'order:view'],
    ['PUT', '/orders/1/ship', 'order:ship'],
  ];
  test.each(needed)('%s %s needs %s', async (method, path, permission) => {
    const others = needed.map((row) => row[2]).filter((code) => code !== permission);
    const issue = (perms: string[]) => shop.server.tokens.issue({ role: 'admin', id: staffId, perms });
    const send = async (perms: string[], lang = 'en') =>
      shop.call(method, `/admin/api${path}`, {
        token: await issue(perms),
        lang,
        ...(method === 'GET' ? {} : { body: {} }),
      });
    expect(await send(others)).toMatchObject({ status: 200, code: 403, message: `No permission: ${permission}` });
    expect((await send([])).code).toBe(403);
    expect((await send(others, 'zh-CN')).message).toMatch(chinese);
    expect((await send([permission])).code).not.toBe(403);
    expect((await send(['*'])).code).not.toBe(403);
  });
});

test('no audit is violated afterwards', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
