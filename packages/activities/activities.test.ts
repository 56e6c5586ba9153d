import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inHours, openFlashSales } from './testing/flash-sale.ts';

let shop: Shop;
let sales: Awaited<ReturnType<typeof openFlashSales>>;
beforeAll(async () => {
  shop = await openShop();
  sales = await openFlashSales(shop);
});
afterAll(() => shop?.close());

const isoInShanghai = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/;
const iso = expect.stringMatching(isoInShanghai);
const clear = () => shop.database.sql`update activities.activities set deleted_at = now() where deleted_at is null`;
const listOf = async (query = '') => (await shop.call('GET', `/api/v1/seckill/products${query}`)).data;
const idsIn = async (query: string): Promise<number[]> =>
  (await listOf(query)).list.map((row: { activity_product_id: number }) => row.activity_product_id);

describe('staff manage activities', () => {
  test('an activity with times without a zone is in the zone of the shop; a partial PUT keeps the rest', async () => {
    await clear();
    const body = { name: ' May sale ', start_at: '2031-05-01T10:00:00', end_at: '2031-05-02' };
    const made = await sales.admin('POST', '/activities', body);
    expect(made.data).toEqual({
      ...{ id: expect.any(Number), type: 'seckill', type_label: 'Flash sale', name: 'May sale' },
      ...{ start_at: '2031-05-01T10:00:00+08:00', end_at: '2031-05-02T23:59:59+08:00' },
      ...{ status: 1, status_label: 'Active', created_at: iso, updated_at: iso },
    });
    const { id } = made.data;
    expect((await sales.admin('PUT', `/activities/${id}`, { name: 'Sale', start_at: '', end_at: '' })).data).toBeNull();
    // The status switch of the console sends the whole row.
    const [row] = (await sales.admin('GET', '/activities?size=1000')).data.list;
    expect(row).toEqual({ ...made.data, name: 'Sale', updated_at: iso });
    await sales.admin('PUT', `/activities/${id}`, { ...row, status: 0 });
    expect((await sales.admin('GET', '/activities')).data).toEqual({
      list: [{ ...row, status: 0, status_label: 'Inactive', updated_at: iso }],
      ...{ total: 1, page: 1, size: 20 },
    });
  });

  test.each([
    [{ name: '', start_at: inHours(1), end_at: inHours(2) }, 400, 'name'],
    [{ name: 'A', start_at: 'soon', end_at: inHours(2) }, 400, 'start_at'],
    [{ name: 'A', start_at: inHours(1), end_at: '' }, 400, 'end_at'],
    [{ name: 'A', start_at: inHours(2), end_at: inHours(1) }, 400, 'end_at'],
    [{ name: 'A', start_at: '2031-02-30', end_at: '2031-03-02' }, 400, 'start_at'],
  ])('%j is refused and names the field', async (body, code, field) => {
    const answer = await sales.admin('POST', '/activities', body);
    expect([answer.code, answer.data]).toEqual([code, null]);
    expect(answer.message).toContain(field);
  });

  test('of eight overlapping activities at once exactly one is left, also when it is switched off', async () => {
    await clear();
    const make = (n: number) => {
      const hours = { start_at: inHours(n), end_at: inHours(n + 20) };
      return sales.admin('POST', '/activities', { name: `Sale ${n}`, status: n % 2, ...hours });
    };
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => make(n)));
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 500]));
    expect((await sales.admin('GET', '/activities')).data.total).toBe(1);
  });

  test('an activity may begin when another ends, a change must not overlap, and a deleted one blocks nothing', async () => {
    await clear();
    const make = async (start_at: string, end_at: string) =>
      (await sales.admin('POST', '/activities', { name: 'Sale', start_at, end_at })).data.id as number;
    const first = await make('2032-01-01T10:00:00', '2032-01-01T12:00:00');
    const second = await make('2032-01-01T12:00:00', '2032-01-01T14:00:00');
    const late = { end_at: '2032-01-01T12:00:01' };
    expect(await sales.admin('PUT', `/activities/${first}`, late)).toMatchObject({ code: 500 });
    // It does not overlap with itself.
    expect(await sales.admin('PUT', `/activities/${first}`, { end_at: '2032-01-01T11:00:00' })).toMatchObject({
      code: 0,
    });
    expect(await sales.admin('DELETE', `/activities/${second}`)).toMatchObject({ code: 0, data: null });
    expect(await sales.admin('PUT', `/activities/${first}`, late)).toMatchObject({ code: 0 });
    for (const method of ['PUT', 'DELETE'])
      expect(await sales.admin(method, `/activities/${second}`, {})).toMatchObject({ code: 404 });
  });
});

describe('staff replace the products of an activity', () => {
  test('rows have both vocabularies; the price that was changed counts', async () => {
    const { id: product_id, sku_ids } = await insertProduct(shop.database, { title: 'Tin', stocks: [7, 8] });
    const { id } = await sales.start([
      { product_id, sku_id: sku_ids[0]!, activity_price: 3.456, limit_per_order: 2, total_stock_limit: 5, sort: 1 },
      { product_id, sku_id: 0, activity_price: 0, seckill_price: '4.50', limit_per_order: '', total_stock_limit: '' },
    ]);
    const read = async () => (await sales.admin('GET', `/products?activity_id=${id}&size=1000`)).data.list;
    const common = {
      activity_id: id,
      activity_name: 'Weekend sale',
      product_id,
      start_price: 0,
      floor_price: 0,
      sold_qty: 0,
    };
    const product = { product_title: 'Tin', product_cover: '', product_price: 12.9, sku_attrs: [], sku_price: 12.9 };
    const [one, all] = await read();
    expect([one, all]).toEqual([
      {
        ...{ id: one.id, activity_product_id: one.id, ...common, sku_id: sku_ids[0] },
        ...{ activity_price: 3.46, seckill_price: 3.46, limit_per_order: 2, total_stock_limit: 5, sort: 1 },
        ...{ ...product, sku_stock: 7 },
      },
      {
        ...{ id: all.id, activity_product_id: all.id, ...common, sku_id: 0 },
        ...{ activity_price: 4.5, seckill_price: 4.5, limit_per_order: 0, total_stock_limit: 0, sort: 0 },
        ...{ ...product, sku_stock: 15 },
      },
    ]);
    // Both families of pages send back all fields that they read.
    await sales.admin('PUT', `/activities/${id}/products`, [
      { ...one, seckill_price: 3 },
      { ...all, activity_price: 5 },
    ]);
    const prices = (await read()).map((row: Record<string, number>) => [row.activity_price, row.seckill_price]);
    expect(prices).toEqual([
      [3, 3],
      [5, 5],
    ]);
  });

  test('a row that leaves is kept with what was sold, and its SKU gets the same id again', async () => {
    const { activity_id, activity_product_id, product_id, sku_id } = await sales.sellOne({ total_stock_limit: 10 });
    await shop.database.sql`update activities.activity_products set sold_qty = 4 where id = ${activity_product_id}`;
    const replace = (rows: unknown[]) => sales.admin('PUT', `/activities/${activity_id}/products`, rows);
    const row = { product_id, sku_id, activity_price: 8 };
    expect(await replace([])).toMatchObject({ code: 0, data: null });
    expect((await sales.admin('GET', `/products?activity_id=${activity_id}`)).data.list).toEqual([]);
    expect(await shop.call('GET', `/api/v1/seckill/products/${activity_product_id}`)).toMatchObject({ code: 404 });
    const refused = await replace([{ ...row, total_stock_limit: 3 }]);
    expect([refused.code, refused.message]).toEqual([500, expect.stringContaining('4 pieces')]);
    await replace([{ ...row, total_stock_limit: 4 }]);
    const [again] = (await sales.admin('GET', `/products?activity_id=${activity_id}`)).data.list;
    expect(again).toMatchObject({ id: activity_product_id, sold_qty: 4, activity_price: 8 });
    // It is sold out: not in the list, and the supplement still has it.
    expect(await idsIn('')).toEqual([]);
    expect((await shop.call('GET', `/api/v1/marketing/activity-products/${activity_product_id}`)).data.sold_qty).toBe(
      4,
    );
  });

  test('a console can send back a row whose product was deleted, and cannot add one', async () => {
    const { activity_id, product_id, sku_id } = await sales.sellOne({});
    const replace = async (rows: unknown[]) =>
      (await sales.admin('PUT', `/activities/${activity_id}/products`, rows)).code;
    await shop.database.sql`update catalog.products set deleted_at = now(), status = 0 where id = ${product_id}`;
    const row = { product_id, sku_id, activity_price: 7 };
    expect(await replace([row])).toBe(0);
    const { list } = (await sales.admin('GET', `/products?activity_id=${activity_id}`)).data;
    expect(list).toEqual([expect.objectContaining({ ...row, product_title: '' })]);
    expect(await replace([row, { ...row, sku_id: 0 }])).toBe(400);
    expect(await replace([])).toBe(0);
    expect(await replace([row])).toBe(400);
  });

  test('invalid rows are refused and nothing changes', async () => {
    const { activity_id, product_id, sku_id, activity_product_id } = await sales.sellOne({});
    const other = await insertProduct(shop.database);
    const row = { product_id, sku_id, activity_price: 1 };
    const cases: [unknown, number, string][] = [
      [[{ sku_id, activity_price: 1 }], 400, 'product_id'],
      [[{ product_id, activity_price: 1 }], 400, 'sku_id'],
      [[{ ...row, activity_price: 0 }], 400, 'activity_price'],
      [[{ product_id, sku_id, seckill_price: 0 }], 400, 'seckill_price: must be above 0'],
      [[{ product_id, sku_id }], 400, 'activity_price: must be above 0'],
      [[{ ...row, activity_price: -1 }], 400, 'activity_price'],
      [[{ ...row, limit_per_order: -1 }], 400, 'limit_per_order'],
      [[{ ...row, total_stock_limit: 1.5 }], 400, 'total_stock_limit'],
      [[row, row], 400, 'twice'],
      [[{ ...row, sku_id: other.sku_ids[0] }], 400, `SKU ${other.sku_ids[0]}`],
      [[{ ...row, product_id: 999_999, sku_id: 0 }], 400, 'product 999999'],
      [{ rows: [row] }, 400, 'body'],
    ];
    for (const [body, code, text] of cases) {
      const answer = await sales.admin('PUT', `/activities/${activity_id}/products`, body);
      expect([answer.code, answer.message], JSON.stringify(body)).toEqual([code, expect.stringContaining(text)]);
    }
    expect(await sales.admin('PUT', '/activities/999999/products', [])).toMatchObject({ code: 404 });
    expect(await idsIn('')).toEqual([activity_product_id]);
  });
});

describe('shoppers see the running activity', () => {
  test('a row of the list and the supplement have the fields of the contract', async () => {
    const { id: product_id, sku_ids } = await insertProduct(shop.database, { title: 'Pot', stocks: [9, 1] });
    const row = { product_id, sku_id: sku_ids[0]!, activity_price: 5, limit_per_order: 2, total_stock_limit: 6 };
    const { id, rowIds } = await sales.start([row, { product_id, sku_id: 0, activity_price: 6 }]);
    await shop.database.sql`update catalog.product_skus set sold = 3, reserved_stock = 1 where id = ${sku_ids[0]!}`;
    const activity = {
      ...{
        activity_id: id,
        activity_type: 'seckill',
        activity_type_label: 'Flash sale',
        activity_name: 'Weekend sale',
      },
      ...{ activity_status: 1, activity_status_label: 'Active', activity_start_at: iso, activity_end_at: iso },
    };
    const goods = { product_id, title: 'Pot', subtitle: '', cover: '', category_id: 0, attrs: '[]', sales: 3 };
    const bargain = { start_price: 0, floor_price: 0 };
    const { list, ...page } = await listOf();
    expect(page).toEqual({ total: 2, page: 1, size: 20 });
    expect(list).toEqual([
      {
        ...{ activity_product_id: rowIds[0], ...activity, ...goods, sku_id: sku_ids[0], stock: 8, origin_price: 12.9 },
        ...{ price: 5, activity_price: 5, seckill_price: 5, ...bargain },
        ...{ limit_per_order: 2, total_stock_limit: 6, sold_qty: 0 },
      },
      {
        ...{ activity_product_id: rowIds[1], ...activity, ...goods, sku_id: 0, stock: 9, origin_price: 12.9 },
        ...{ price: 6, activity_price: 6, seckill_price: 6, ...bargain },
        ...{ limit_per_order: 0, total_stock_limit: 0, sold_qty: 0 },
      },
    ]);
    for (const path of ['marketing/activity-products', 'seckill/products'])
      expect((await shop.call('GET', `/api/v1/${path}/${rowIds[0]}`)).data).toEqual(list[0]);
    const chinese = await shop.call('GET', `/api/v1/marketing/activity-products/${rowIds[0]}`, { lang: 'zh-CN' });
    expect(chinese.data).toMatchObject({ activity_type_label: '秒杀', activity_status_label: '已启用' });
    const open = (await shop.call('GET', '/api/v1/seckill/activities')).data;
    expect(open).toMatchObject({ list: [{ id, type: 'seckill', name: 'Weekend sale', status: 1 }], total: 1 });
  });

  test('all filters, both orders and pages', async () => {
    const { sql } = shop.database;
    const [root] = await sql<{ id: number }[]>`insert into catalog.categories (name) values ('Kitchen') returning id`;
    const [leaf] = await sql<{ id: number }[]>`
      insert into catalog.categories (name, parent_id) values ('Pots', ${root!.id}) returning id`;
    const products = await Promise.all(
      ['Red pot', 'Blue pot', 'Green pan'].map((title) => insertProduct(shop.database, { title })),
    );
    await sql`update catalog.products set category_id = ${leaf!.id} where id = ${products[0]!.id}`;
    await sql`update catalog.products set category_id = ${root!.id}, translations = '{"zh-CN": {"title": "蓝锅"}}'
      where id = ${products[1]!.id}`;
    const sold = [5, 1, 9];
    for (const [n, { id }] of products.entries())
      await sql`update catalog.product_skus set sold = ${sold[n]!} where product_id = ${id}`;
    const price = [30, 10, 20];
    const { id, rowIds } = await sales.start(
      products.map((product, n) => ({ product_id: product.id, sku_id: 0, activity_price: price[n]! })),
    );
    const [red, blue, green] = rowIds as [number, number, number];
    const cases: [string, number[]][] = [
      ['', [blue, green, red]],
      ['?sort_by=price&sort_order=asc', [blue, green, red]],
      ['?sort_order=desc', [red, green, blue]],
      ['?sort_by=sales', [blue, red, green]],
      ['?sort_by=sales&sort_order=desc', [green, red, blue]],
      [`?category_id=${root!.id}`, [blue, red]],
      [`?category_id=${leaf!.id}`, [red]],
      ['?category_id=999999', []],
      ['?keyword=POT', [blue, red]],
      ['?keyword=%E8%93%9D', [blue]],
      ['?keyword=%25', []],
      ['?min_price=20', [green, red]],
      ['?min_price=10.01&max_price=20', [green]],
      [`?activity_id=${id}`, [blue, green, red]],
      [`?activity_id=${id + 1}`, []],
      ['?activity_id=&category_id=&keyword=&min_price=&max_price=&sort_by=&page=&size=', [blue, green, red]],
      ['?page=2&size=2', [red]],
    ];
    for (const [query, expected] of cases) expect(await idsIn(query), query).toEqual(expected);
    expect(await listOf('?page=9&size=2')).toEqual({ list: [], total: 3, page: 9, size: 2 });
    // Off the shelf, a SKU that is not sold any more, and a switched-off activity.
    await sql`update catalog.products set status = 0 where id = ${products[0]!.id}`;
    expect(await idsIn('')).toEqual([blue, green]);
    expect(await shop.call('GET', `/api/v1/marketing/activity-products/${red}`)).toMatchObject({ code: 404 });
    await sales.admin('PUT', `/activities/${id}`, { status: 0 });
    expect(await listOf()).toEqual({ list: [], total: 0, page: 1, size: 20 });
    expect((await shop.call('GET', `/api/v1/marketing/activity-products/${blue}`)).data.activity_status).toBe(0);
    await sales.admin('PUT', `/activities/${id}`, { status: 1, start_at: inHours(1) });
    expect(await idsIn('')).toEqual([]);
    expect((await shop.call('GET', '/api/v1/seckill/activities')).data.total).toBe(1);
  });
});
