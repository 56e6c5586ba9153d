import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** List and detail of products in the storefront. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const list = async (query = '', options = {}) => (await shop.call('GET', `/api/v1/products${query}`, options)).data;
const titles = async (query: string) => (await list(query)).list.map((row: { title: string }) => row.title);

/** A product with all data that a shopper can see. */
async function fullProduct() {
  const { sql } = shop.database;
  const { id, sku_ids } = await insertProduct(shop.database, { title: 'Full mug', price: 1290, stocks: [5, 7, 9] });
  const texts = { 'zh-CN': { title: '搪瓷杯', subtitle: '轻巧', specs: { Colour: '颜色', Cream: '米白' } } };
  await sql`
    update catalog.products set subtitle = 'Light', cover = '/uploads/demo/enamel-mug.svg', origin_price = 1590,
      detail = ${sql.json({ version: 1, blocks: [{ id: 'a', type: 'text', props: { text: 'Hello' } }] })}, translations = ${sql.json(texts)}
    where id = ${id}`;
  await sql`
    update catalog.product_skus set attrs = ${sql.json([{ name: 'Colour', value: 'Cream' }])}, sku_code = 'MUG-C',
      reserved_stock = 0, sku_key = 'Colour:Cream' where id = ${sku_ids[0]!}`;
  await sql`update catalog.product_skus set status = 'inactive' where id = ${sku_ids[2]!}`;
  await sql`
    insert into catalog.product_images (product_id, url, sort)
    values (${id}, '/uploads/demo/b.svg', 2), (${id}, '/uploads/demo/a.svg', 1), (${id}, 'https://cdn.example/c.jpg', 3)`;
  return { id, sku_ids };
}

describe('detail', () => {
  test('has every field of the contract, with the types that clients need', async () => {
    const { id, sku_ids } = await fullProduct();
    const { data } = await shop.call('GET', `/api/v1/products/${id}`);
    expectFields(data, `${contract.productCard}, skus [], images []`);
    expect(data).toMatchObject({
      id,
      title: 'Full mug',
      subtitle: 'Light',
      price: 12.9,
      origin_price: 15.9,
      stock: 12,
      sales: 0,
      status: 1,
      is_favorited: false,
    });
    expect(data.detail).toEqual({ version: 1, blocks: [{ id: 'a', type: 'text', props: { text: 'Hello' } }] });
    for (const sku of data.skus) expectFields(sku, contract.sku);
    for (const image of data.images) expectFields(image, contract.image);
    expect(
      data.skus.map((sku: { id: number }) => sku.id),
      'inactive SKUs can not be chosen',
    ).toEqual(sku_ids.slice(0, 2));
    expect(JSON.parse(data.skus[0].attrs), 'clients parse this text').toEqual([{ name: 'Colour', value: 'Cream' }]);
    expect(data.skus[0]).toMatchObject({
      product_id: id,
      price: 12.9,
      stock: 5,
      sku_code: 'MUG-C',
      sku_key: 'Colour:Cream',
      status: 'active',
    });
  });

  test('pictures are absolute URLs in their order; a URL of another site is unchanged', async () => {
    const { id } = await fullProduct();
    const { data } = await shop.call('GET', `/api/v1/products/${id}`);
    expect(data.cover).toBe(`${shop.url}/uploads/demo/enamel-mug.svg`);
    expect(data.images.map((image: { url: string }) => image.url)).toEqual([
      `${shop.url}/uploads/demo/a.svg`,
      `${shop.url}/uploads/demo/b.svg`,
      'https://cdn.example/c.jpg',
    ]);
  });

  test('texts are in the requested language, ?lang before Accept-Language; keys stay the same', async () => {
    const { id } = await fullProduct();
    for (const [query, lang, title, value] of [
      ['', 'en', 'Full mug', 'Cream'],
      ['', 'zh-CN', '搪瓷杯', '米白'],
      ['?lang=zh-CN', 'en', '搪瓷杯', '米白'],
      ['?lang=en', 'zh-CN', 'Full mug', 'Cream'],
    ] as const) {
      const { data } = await shop.call('GET', `/api/v1/products/${id}${query}`, { lang });
      expect(data.title).toBe(title);
      expect(JSON.parse(data.skus[0].attrs)[0].value).toBe(value);
      expect(data.skus[0].sku_key).toBe('Colour:Cream');
    }
  });

  test('a specification may have any name, also one that every JavaScript object has', async () => {
    const { id, sku_ids } = await fullProduct();
    const { sql } = shop.database;
    const attrs = [{ name: 'constructor', value: 'toString' }];
    await sql`update catalog.product_skus set attrs = ${sql.json(attrs)} where id = ${sku_ids[1]!}`;
    const { data } = await shop.call('GET', `/api/v1/products/${id}`, { lang: 'zh-CN' });
    expect(JSON.parse(data.skus[1].attrs)).toEqual(attrs);
  });

  test.each(['99999999', '4503599627370496'])('a product that does not exist (%s) is code 10002', async (id) => {
    expect(await shop.call('GET', `/api/v1/products/${id}`)).toMatchObject({
      status: 200,
      code: 10002,
      message: 'Product not found',
    });
    const inChinese = await shop.call('GET', `/api/v1/products/${id}?lang=zh-CN`);
    expect(inChinese).toMatchObject({ code: 10002, message: expect.stringMatching(chinese) });
  });

  test('a product off the shelf cannot be opened', async () => {
    const { id } = await insertProduct(shop.database, { status: 0 });
    expect(await shop.call('GET', `/api/v1/products/${id}`)).toMatchObject({ code: 10002 });
  });

  test('stock is the sellable quantity, and sales count paid pieces', async () => {
    const { id, sku_ids } = await insertProduct(shop.database, { stocks: [5, 7] });
    const { token, address_id } = await shop.shopper();
    await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0], qty: 3 } });
    const order = await shop.call('POST', '/api/v1/orders', { token, body: { address_id } });
    const seen = async () => {
      const { data } = await shop.call('GET', `/api/v1/products/${id}`);
      return [data.stock, data.sales, data.skus[0].stock];
    };
    expect(await seen()).toEqual([9, 0, 2]);
    await shop.call('POST', `/api/v1/orders/${order.data.id}/pay`, { token });
    expect(await seen()).toEqual([9, 3, 2]);
  });
});

describe('list', () => {
  test('rows have every field of a card', async () => {
    await fullProduct();
    const data = await list();
    expectFields(data, contract.paged);
    for (const row of data.list) expectFields(row, contract.productCard);
  });

  test('ordered by sort, then newest; products off the shelf are not listed', async () => {
    const make = async (title: string, sort: number, status = 1) => {
      const { id } = await insertProduct(shop.database, { title, status });
      await shop.database.sql`update catalog.products set sort = ${sort} where id = ${id}`;
    };
    await make('Order A', 0);
    await make('Order B', 5);
    await make('Order C', 5);
    await make('Order hidden', 9, 0);
    await make('Order D', -1);
    expect(await titles('?keyword=Order')).toEqual(['Order C', 'Order B', 'Order A', 'Order D']);
  });

  test.each([
    ['part of the title', 'hundred', ['100% cotton_hundred']],
    ['other case', 'COTTON', ['100% cotton_hundred']],
    ['a percent sign is a percent sign', '100%', ['100% cotton_hundred']],
    ['an underscore is an underscore', 'n_h', ['100% cotton_hundred']],
    ['a backslash', 'a\\b', ['a\\b']],
    ['a quote', "it's", ["it's"]],
    ['nothing like it', 'zzz%zzz', []],
    ['the Chinese title', '棉布', ['100% cotton_hundred']],
  ])('keyword: %s', async (_what, keyword, expected) => {
    const { sql } = shop.database;
    if ((await titles('?keyword=cotton')).length === 0) {
      const { id } = await insertProduct(shop.database, { title: '100% cotton_hundred' });
      await sql`update catalog.products set translations = ${sql.json({ 'zh-CN': { title: '棉布' } })} where id = ${id}`;
      await insertProduct(shop.database, { title: 'a\\b' });
      await insertProduct(shop.database, { title: "it's" });
    }
    expect(await titles(`?keyword=${encodeURIComponent(keyword)}`)).toEqual(expected);
  });

  test('a keyword searches titles only: an attribute word or a JSON key is not a hit', async () => {
    await fullProduct();
    expect(await titles('?keyword=subtitle')).toEqual([]);
    expect(await titles('?keyword=zh-CN')).toEqual([]);
  });

  test('category_id filters; empty, absent and 0 mean all', async () => {
    const { id } = await insertProduct(shop.database, { title: 'In category' });
    const [category] = await shop.database.sql<
      { id: number }[]
    >`insert into catalog.categories (name) values ('Mugs') returning id`;
    await shop.database.sql`update catalog.products set category_id = ${category!.id} where id = ${id}`;
    expect((await list(`?category_id=${category!.id}`)).list.map((row: { id: number }) => row.id)).toEqual([id]);
    expect(await list('?category_id=999999')).toMatchObject({ list: [], total: 0 });
    const all = (await list()).total;
    for (const query of ['?category_id=', '?category_id=0', '?keyword=', '?keyword=&category_id=&page=&size='])
      expect((await list(query)).total, query).toBe(all);
  });

  describe('paging', () => {
    beforeAll(async () => {
      await shop.database.sql`
        insert into catalog.products (title, price) select 'Page ' || n, 100 from generate_series(1, 130) as n`;
    });

    test.each([
      ['', 1, 20, 20],
      ['&page=2', 2, 20, 20],
      ['&page=7&size=20', 7, 20, 10],
      ['&page=8&size=20', 8, 20, 0],
      ['&page=0', 1, 20, 20],
      ['&page=-5', 1, 20, 20],
      ['&size=100', 1, 100, 100],
      ['&size=101', 1, 20, 20],
      ['&size=1000', 1, 20, 20],
      ['&size=0', 1, 20, 20],
      ['&size=-1', 1, 20, 20],
      ['&page=&size=', 1, 20, 20],
      ['&page=1000000000', undefined, 20, 0],
    ])('"%s" is page %s of %s rows', async (query, page, size, rows) => {
      const data = await list(`?keyword=Page${query}`);
      expect(data.list).toHaveLength(rows);
      expect(data).toMatchObject({ total: 130, size, ...(page ? { page } : {}) });
    });

    test('pages neither repeat nor lose a row', async () => {
      const ids: number[] = [];
      for (let page = 1; page <= 4; page += 1)
        ids.push(...(await list(`?keyword=Page&size=40&page=${page}`)).list.map((row: { id: number }) => row.id));
      expect(new Set(ids).size).toBe(130);
    });
  });
});

test('a shopper, a visitor and an invalid token get the same list', async () => {
  const { token } = await shop.shopper();
  const anonymous = await list();
  for (const sent of [token, '', 'garbage', 'a.b.c']) expect(await list('', { token: sent })).toEqual(anonymous);
});

test('the audits pass afterwards', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
