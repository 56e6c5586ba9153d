import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The catalogue of the back office: deletion and batches of products, categories, spec templates. */
let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(() => shop?.close());

const admin = (method: string, path: string, body?: object, lang = 'en', headers = {}) =>
  shop.call(method, `/admin/api${path}`, { token, body, lang, headers });
const product = async (id: number) => (await admin('GET', `/products/${id}`)).data;
const create = async (body: object) => (await admin('POST', '/products', body)).data.id as number;
const category = async (name: string, parent_id = 0) =>
  (await admin('POST', '/categories', { name, parent_id })).data.id as number;
const gone = 2 ** 40;

describe('deleting a product', () => {
  test('it is removed for shoppers and staff; orders keep it unchanged', async () => {
    const ann = await shop.shopper();
    const { id, sku_ids } = await insertProduct(shop.database, { title: 'Doomed', stocks: [9, 9] });
    const buy = { token: ann.token, body: { address_id: ann.address_id, items: [{ sku_id: sku_ids[0] }] } };
    const order = (await shop.call('POST', '/api/v1/orders', buy)).data.id;
    await shop.call('POST', '/api/v1/cart/add', { token: ann.token, body: { sku_id: sku_ids[1], qty: 2 } });
    await shop.call('POST', `/api/v1/products/${id}/favorite`, { token: ann.token });

    const refused = await admin('DELETE', `/products/${id}`);
    expect(refused, 'the buyer has been promised the goods').toMatchObject({ status: 200, code: 500 });
    expect(refused.message).toContain('Open orders');
    expect((await admin('DELETE', `/products/${id}`, undefined, 'zh-CN')).message).toMatch(chinese);
    expect((await product(id)).status).toBe(1);

    await shop.call('POST', `/api/v1/orders/${order}/pay`, { token: ann.token });
    expect(await admin('DELETE', `/products/${id}`)).toMatchObject({ code: 0, data: null });

    for (const path of [`/api/v1/products/${id}`, `/api/v1/products/${id}/reviews`])
      expect((await shop.call('GET', path)).code).toBe(10002);
    expect((await shop.call('GET', '/api/v1/products?keyword=doomed')).data.total).toBe(0);
    for (const [method, path, body] of [
      ['GET', `/products/${id}`, undefined],
      ['PUT', `/products/${id}`, { product: { status: 1 } }],
      ['DELETE', `/products/${id}`, undefined],
    ] as const)
      expect((await admin(method, path, body)).code, `${method} ${path}`).toBe(10002);
    expect((await admin('GET', '/products?keyword=doomed')).data.total).toBe(0);
    expect((await admin('PUT', '/products/batch/status', { ids: [id], status: 1 })).data.fail).toHaveLength(1);
    expect((await shop.call('GET', '/api/v1/cart', { token: ann.token })).data).toEqual([]);
    expect((await shop.call('GET', '/api/v1/user/favorites', { token: ann.token })).data.total).toBe(0);
    expect(
      (await shop.call('POST', '/api/v1/cart/add', { token: ann.token, body: { sku_id: sku_ids[1], qty: 1 } })).code,
    ).toBe(10002);
    const { items } = (await shop.call('GET', `/api/v1/orders/${order}`, { token: ann.token })).data;
    expect(items[0]).toMatchObject({ title: 'Doomed', product_id: id, sku_id: sku_ids[0] });
  });

  test('while shoppers order it: either the deletion or the orders succeed, and the stock ledger is correct', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { id, sku_ids } = await insertProduct(shop.database, { stocks: [50] });
      const buyers = await Promise.all(Array.from({ length: 8 }, () => shop.shopper()));
      const [removed, ...orders] = await Promise.all([
        admin('DELETE', `/products/${id}`),
        ...buyers.map(({ token: buyer, address_id }) =>
          shop.call('POST', '/api/v1/orders', { token: buyer, body: { address_id, items: [{ sku_id: sku_ids[0] }] } }),
        ),
      ]);
      const bought = orders.filter((order) => order!.code === 0).length;
      expect(removed!.code === 0 ? bought : 0, 'no shopper has bought a deleted product').toBe(0);
      expect(await auditViolations(shop.database.sql)).toEqual([]);
    }
  });
});

describe('batches', () => {
  test('status: existing products are changed, the others are listed with a reason, each id once', async () => {
    const [a, b] = [await insertProduct(shop.database), await insertProduct(shop.database)];
    const { data } = await admin('PUT', '/products/batch/status', { ids: [b.id, gone, a.id, b.id], status: 0 });
    expectFields(data, contract.batchResult);
    expect(data).toEqual({ success_ids: [b.id, a.id], fail: [{ id: gone, reason: 'Product not found' }] });
    expect([(await product(a.id)).status, (await product(b.id)).status]).toEqual([0, 0]);
    const inChinese = await admin('PUT', '/products/batch/status', { ids: [gone], status: 1 }, 'zh-CN');
    expect(inChinese.data.fail[0].reason).toMatch(chinese);
    expect((await admin('PUT', '/products/batch/status', { ids: [], status: 1 })).data).toEqual({
      success_ids: [],
      fail: [],
    });
    for (const [body, field] of [
      [{ ids: [a.id], status: 2 }, 'status'],
      [{ ids: [a.id] }, 'status'],
      [{ status: 1 }, 'ids'],
      [{ ids: [0], status: 1 }, 'ids'],
      [{ ids: Array.from({ length: 1001 }, (_, n) => n + 1), status: 1 }, 'ids'],
    ] as const)
      expect(await admin('PUT', '/products/batch/status', body)).toMatchObject({
        code: 400,
        message: expect.stringContaining(field),
      });
  });

  test('category: all products are moved or none', async () => {
    const { id } = await insertProduct(shop.database);
    const target = await category('Batch target');
    expect(
      (await admin('PUT', '/products/batch/category', { ids: [id, gone], category_id: target })).data,
    ).toMatchObject({
      success_ids: [id],
      fail: [{ id: gone }],
    });
    expect((await product(id)).category_id).toBe(target);
    expect(await admin('PUT', '/products/batch/category', { ids: [id], category_id: gone })).toMatchObject({
      code: 400,
      message: expect.stringContaining('category_id'),
    });
    expect((await product(id)).category_id).toBe(target);
    for (const none of [0, '']) {
      await admin('PUT', '/products/batch/category', { ids: [id], category_id: target });
      expect((await admin('PUT', '/products/batch/category', { ids: [id], category_id: none })).code).toBe(0);
      expect((await product(id)).category_id).toBe(0);
    }
  });

  const price = (ids: number[], type: string, value: unknown, more = {}) =>
    admin('PUT', '/products/batch/price', { ids, adjustment: { type, value, ...more } });

  test.each([
    ['percent', 10, 12.9, 14.19],
    ['percent', -10, 12.9, 11.61],
    ['percent', 2.5, 0.2, 0.21],
    ['percent', 50, 0.01, 0.02],
    ['percent', 5, 0.1, 0.11],
    ['percent', 4.9, 0.1, 0.1],
    ['percent', 1.005, 100, 101.01],
    ['percent', 33.333, 9.99, 13.32],
    ['percent', -100, 12.9, 0],
    ['percent', -150, 12.9, 0],
    ['percent', 0, 12.9, 12.9],
    ['percent', 1e-7, 12.9, 12.9],
    ['amount', 0.1, 0.2, 0.3],
    ['amount', -0.01, 0.02, 0.01],
    ['amount', 1.005, 1, 2.01],
    ['amount', -20, 12.9, 0],
    ['set', 1.005, 7, 1.01],
    ['set', 19.99, 7, 19.99],
    ['set', 0, 7, 0],
    ['set', -3, 7, 0],
  ])('price %s %s of %s is %s, to the cent', async (type, value, before, after) => {
    // A product on sale cannot cost 0: product-prices.test.ts.
    const status = after > 0 ? 1 : 0;
    const id = await create({ product: { title: 'Priced', price: before, origin_price: 50, status } });
    expect((await price([id], type, value)).data).toEqual({ success_ids: [id], fail: [] });
    const changed = await product(id);
    expect([changed.price, changed.skus[0].price, changed.origin_price]).toEqual([after, after, 50]);
  });

  test('scope chooses the product, its SKUs or both; a product without specifications has the price of its SKU', async () => {
    const specs = {
      spec_schema: [{ name: 'Size', values: ['L', 'M'] }],
      sku_overrides: [{ sku_key: 'Size:L', price: 20 }],
    };
    for (const [scope, expected] of [
      [undefined, [15, 30, 15]],
      ['all', [15, 30, 15]],
      ['product', [15, 20, 10]],
      ['sku', [10, 30, 15]],
    ] as const) {
      const id = await create({ product: { title: 'Scoped', price: 10 }, ...specs });
      await price([id], 'percent', 50, scope ? { scope } : {});
      const { price: own, skus } = await product(id);
      expect([own, ...skus.map((sku: { price: number }) => sku.price)], String(scope)).toEqual(expected);
      const plain = await create({ product: { title: 'Plain', price: 10 } });
      await price([plain], 'percent', 50, scope ? { scope } : {});
      const after = await product(plain);
      expect([after.price, after.skus[0].price], `plain, ${scope}`).toEqual([15, 15]);
    }
  });

  test('a price that would be too large leaves the product unchanged and is reported', async () => {
    const expensive = await create({
      product: { title: 'Expensive', price: 1 },
      spec_schema: [{ name: 'Size', values: ['L'] }],
      sku_overrides: [{ sku_key: 'Size:L', price: 99_999_999.99 }],
    });
    const cheap = await create({ product: { title: 'Cheap', price: 1 } });
    const { data } = await price([expensive, cheap, gone], 'percent', 10);
    expect(data).toEqual({
      success_ids: [cheap],
      fail: [
        { id: expensive, reason: 'The new price would be too large' },
        { id: gone, reason: 'Product not found' },
      ],
    });
    expect((await product(expensive)).price).toBe(1);
  });

  test.each([
    ['no type', { value: 1 }, 'type'],
    ['another type', { type: 'double', value: 1 }, 'type'],
    ['no value', { type: 'set' }, 'value'],
    ['a text', { type: 'set', value: 'cheap' }, 'value'],
    ['another scope', { type: 'set', value: 1, scope: 'moon' }, 'scope'],
  ])('%s is refused by name', async (_what, adjustment, field) => {
    const { id } = await insertProduct(shop.database);
    expect(await admin('PUT', '/products/batch/price', { ids: [id], adjustment })).toMatchObject({
      code: 400,
      message: expect.stringContaining(field),
    });
  });

  test('a thousand products take few statements, and ten concurrent calls on the same ones each apply their amount once', async () => {
    const rows = await shop.database.sql<{ id: number }[]>`
      insert into catalog.products (title, price, spec_schema) select 'Bulk ' || n, 10000, '[]' from generate_series(1, 1000) as n returning id`;
    const ids = rows.map((row) => row.id);
    await shop.database.sql`insert into catalog.product_skus (product_id, sku_key, price)
      select id, '__default__', 10000 from unnest(${ids}::bigint[]) as id`;
    const sent = async () => (await shop.server.runtime.metrics.statements.get()).values[0]?.value ?? 0;
    const before = await sent();
    await price(ids, 'amount', 1);
    expect((await sent()) - before).toBeLessThan(8);
    // The calls wait for each other, and a call waits for a few seconds only: with all products ten would be too many on a busy machine.
    const shared = ids.slice(0, 200);
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, n) => price(n % 2 ? shared : [...shared].reverse(), 'amount', 1)),
    );
    expect(results.map((answer) => answer.code)).toEqual(Array.from({ length: 10 }, () => 0));
    const wrong = await shop.database.sql`
      select p.id from catalog.products p join catalog.product_skus s on s.product_id = p.id
      where p.id = any(${ids}::bigint[])
        and array[p.price, s.price] <> array_fill(case when p.id = any(${shared}::bigint[]) then 11100 else 10100 end::bigint, array[2])`;
    expect(wrong).toEqual([]);
  });

  test('a repeat under the same Idempotency-Key does not apply the percentage twice', async () => {
    const id = await create({ product: { title: 'Once', price: 100 } });
    const body = { ids: [id], adjustment: { type: 'percent', value: -10 } };
    const send = () => admin('PUT', '/products/batch/price', body, 'en', { 'idempotency-key': 'price-once' });
    const [first, second] = [await send(), await send()];
    expect(second.data).toEqual(first.data);
    expect((await product(id)).price).toBe(90);
  });
});

describe('categories', () => {
  test('created with the body of the merchant app; every field is returned', async () => {
    const { data } = await admin('POST', '/categories', { name: ' Mugs ', parent_id: 0, sort: 5 });
    expectFields(data, contract.category);
    expect(data).toMatchObject({ name: 'Mugs', parent_id: 0, sort: 5, status: 1, icon: '' });
    const { id } = await insertProduct(shop.database);
    await admin('PUT', '/products/batch/category', { ids: [id], category_id: data.id });
    const list = (await admin('GET', '/categories?page=1&size=20')).data;
    for (const row of list) expectFields(row, contract.adminCategory);
    expect(list.find((row: { id: number }) => row.id === data.id)).toMatchObject({ product_count: 1 });
    const order = list.map((row: { sort: number; id: number }) => [row.sort, row.id]);
    expect(order).toEqual([...order].sort((a, b) => a[0] - b[0] || a[1] - b[1]));
  });

  test('the tree has three levels of children', async () => {
    const a = await category('Tree A');
    const b = await category('Tree B', a);
    const c = await category('Tree C', b);
    const tree = (await admin('GET', '/categories/tree')).data;
    const root = tree.find((node: { id: number }) => node.id === a);
    for (const node of [root, root.children[0], root.children[0].children[0]])
      expectFields(node, contract.categoryNode);
    expect(root).toMatchObject({ children: [{ id: b, parent_id: a, children: [{ id: c, children: [] }] }] });
    expect(tree.every((node: { parent_id: number }) => node.parent_id === 0)).toBe(true);
  });

  test('a change sets only the given fields; the storefront shows translations', async () => {
    const id = await category('Plates');
    await admin('PUT', `/categories/${id}`, { icon: `${shop.url}/uploads/demo/icon.svg`, sort: 3 });
    expect(
      await admin('PUT', `/categories/${id}`, { name: 'Plates & bowls', translations: { 'zh-CN': { name: '碗盘' } } }),
    ).toMatchObject({
      code: 0,
      data: null,
    });
    const seen = async (lang: string) =>
      (await shop.call('GET', '/api/v1/categories', { lang })).data.find((row: { id: number }) => row.id === id);
    expect(await seen('en')).toMatchObject({
      name: 'Plates & bowls',
      sort: 3,
      icon: `${shop.url}/uploads/demo/icon.svg`,
    });
    expect((await seen('zh-CN')).name).toBe('碗盘');
    const [row] = await shop.database.sql`select icon from catalog.categories where id = ${id}`;
    expect(row!.icon, 'stored as a path, so that the shop can move').toBe('/uploads/demo/icon.svg');
    await admin('PUT', `/categories/${id}`, { status: 0 });
    expect(await seen('en')).toBeUndefined();
    expect((await admin('PUT', `/categories/${gone}`, { name: 'x' })).code).toBe(404);
  });

  test('a fourth level, a cycle and a missing parent are refused with the field name in both languages, and nothing changes', async () => {
    const a = await category('Deep A');
    const b = await category('Deep B', a);
    const c = await category('Deep C', b);
    const other = await category('Deep other');
    const below = await category('Deep below', other);
    for (const [method, path, body] of [
      ['POST', '/categories', { name: 'x', parent_id: c }],
      ['POST', '/categories', { name: 'x', parent_id: gone }],
      ['PUT', `/categories/${a}`, { parent_id: c }],
      ['PUT', `/categories/${a}`, { parent_id: a }],
      ['PUT', `/categories/${other}`, { parent_id: b }],
      ['PUT', `/categories/${other}`, { parent_id: gone }],
    ] as const)
      for (const lang of ['en', 'zh-CN']) {
        const answer = await admin(method, path, body, lang);
        expect(answer, `${method} ${path}`).toMatchObject({
          status: 200,
          code: 400,
          message: expect.stringContaining('parent_id'),
        });
        if (lang === 'zh-CN') expect(answer.message).toMatch(chinese);
      }
    expect((await admin('PUT', `/categories/${other}`, { parent_id: a })).code, 'two levels fit below one').toBe(0);
    expect((await admin('PUT', `/categories/${c}`, { parent_id: '' })).code, '"" is the top').toBe(0);
    const rows = await shop.database
      .sql`select id, parent_id from catalog.categories where id = any(${[a, b, c, other, below]}::bigint[]) order by id`;
    expect(rows.map((row) => row.parent_id)).toEqual([0, a, 0, a, other]);
  });

  test('two concurrent moves do not form a cycle', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = [await category('Ring A'), await category('Ring B')];
      const answers = await Promise.all([
        admin('PUT', `/categories/${a}`, { parent_id: b }),
        admin('PUT', `/categories/${b}`, { parent_id: a }),
      ]);
      expect(answers.map((answer) => answer.code).sort()).toEqual([0, 400]);
    }
  });

  test('only an empty category can be deleted', async () => {
    const a = await category('Full');
    const b = await category('Inside', a);
    const { id } = await insertProduct(shop.database);
    await admin('PUT', '/products/batch/category', { ids: [id], category_id: b });
    expect(await admin('DELETE', `/categories/${a}`)).toMatchObject({
      code: 500,
      message: expect.stringContaining('1 categories below'),
    });
    expect(await admin('DELETE', `/categories/${b}`)).toMatchObject({
      code: 500,
      message: expect.stringContaining('1 products'),
    });
    expect((await admin('DELETE', `/categories/${b}`, undefined, 'zh-CN')).message).toMatch(chinese);
    await admin('DELETE', `/products/${id}`);
    expect(await admin('DELETE', `/categories/${b}`)).toMatchObject({ code: 0, data: null });
    expect(await admin('DELETE', `/categories/${a}`)).toMatchObject({ code: 0, data: null });
    expect(await admin('DELETE', `/categories/${a}`)).toMatchObject({ code: 404, message: 'Category not found' });
  });

  test('while products are moved into it: no product is left in a deleted category', async () => {
    for (let round = 0; round < 5; round += 1) {
      const target = await category('Contested');
      const { id } = await insertProduct(shop.database);
      await Promise.all([
        admin('DELETE', `/categories/${target}`),
        admin('PUT', `/products/${id}`, { product: { category_id: target } }),
        admin('PUT', '/products/batch/category', { ids: [id], category_id: target }),
        admin('POST', '/products', { product: { title: 'Contested', price: 1, category_id: target } }),
      ]);
    }
    const lost = await shop.database.sql`
      select id from catalog.products p where category_id > 0 and deleted_at is null and not exists (
        select from catalog.categories c where c.id = p.category_id)`;
    expect(lost).toEqual([]);
  });
});

describe('spec templates', () => {
  const make = async (body: object) => (await admin('POST', '/spec-templates', body)).data;
  const attrs = [
    { name: 'Size', values: ['S', 'M'] },
    { name: 'Colour', values: ['Navy'] },
  ];

  test('arrays are arrays in both directions; a partial change keeps the other fields', async () => {
    const made = await make({ name: 'Clothing', category_ids: [3, 5], attrs });
    expectFields(made, contract.specTemplate);
    expect(made).toMatchObject({ name: 'Clothing', category_ids: [3, 5], attrs, status: 1 });
    expect((await admin('PUT', `/spec-templates/${made.id}`, { status: 0 })).data).toBeNull();
    const read = (await admin('GET', `/spec-templates/${made.id}`)).data;
    expectFields(read, contract.specTemplate);
    expect(read).toMatchObject({ name: 'Clothing', category_ids: [3, 5], attrs, status: 0 });
    await admin('PUT', `/spec-templates/${made.id}`, { category_ids: [], attrs: [] });
    expect((await admin('GET', `/spec-templates/${made.id}`)).data).toMatchObject({
      category_ids: [],
      attrs: [],
      name: 'Clothing',
    });
    expect(await make({ name: 'Bare' })).toMatchObject({ category_ids: [], attrs: [], status: 1 });
  });

  test('filters: keyword, status, a category in the list; empty ones do not filter', async () => {
    const a = await make({ name: 'Filter 100%', category_ids: [71], attrs });
    const b = await make({ name: 'Filter b', category_ids: [71, 72], status: 0 });
    const ids = async (query: string) =>
      (await admin('GET', `/spec-templates?${query}`)).data.list.map((row: { id: number }) => row.id);
    expect(await ids('category_id=71')).toEqual([b.id, a.id]);
    expect(await ids('category_id=72')).toEqual([b.id]);
    expect(await ids('category_id=7')).toEqual([]);
    expect(await ids('keyword=filter&status=1')).toEqual([a.id]);
    expect(await ids('keyword=0%25')).toEqual([a.id]);
    expect((await ids('keyword=&status=&category_id=&page=&size=200')).length).toBeGreaterThanOrEqual(2);
    const { data } = await admin('GET', '/spec-templates?keyword=filter&size=1&page=2');
    expectFields(data, contract.paged);
    expect(data).toMatchObject({ total: 2, page: 2, size: 1, list: [{ id: a.id }] });
  });

  test('a missing or deleted template gets 404, in both languages', async () => {
    const { id } = await make({ name: 'Short-lived' });
    expect((await admin('DELETE', `/spec-templates/${id}`)).data).toBeNull();
    for (const [method, body] of [['GET'], ['PUT', { name: 'x' }], ['DELETE']] as const) {
      expect(await admin(method, `/spec-templates/${id}`, body)).toMatchObject({
        code: 404,
        message: 'Spec template not found',
      });
      expect((await admin(method, `/spec-templates/${id}`, body, 'zh-CN')).message).toMatch(chinese);
    }
  });
});

test('the audits pass afterwards', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
