import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refreshSales } from '../../packages/catalog/products/product-list-store.ts';
import { addFavorites, removeFavorites } from '../../packages/catalog/storefront/favorite-store.ts';

/** The catalogue of the storefront: categories, best sellers, favourites. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const get = (path: string, options = {}) => shop.call('GET', `/api/v1${path}`, options);
const countOf = async (id: number) => {
  const [row] = await shop.database.sql<{ favorite_count: number; rows: number }[]>`
    select favorite_count, (select count(*)::int from catalog.favorites where product_id = p.id) as rows
    from catalog.products p where id = ${id}`;
  return [row!.favorite_count, row!.rows];
};

describe('categories', () => {
  test('a plain array of visible categories, by sort and id, with names in the language of the reader', async () => {
    const { sql } = shop.database;
    await sql`
      insert into catalog.categories (name, icon, sort, status, translations) values
        ('Second', '', 2, 1, '{}'), ('First', '/uploads/demo/icon.svg', 1, 1, ${sql.json({ 'zh-CN': { name: '第一' } })}),
        ('Hidden', '', 0, 0, '{}'), ('Also second', '', 2, 1, ${sql.json({ 'zh-CN': { name: '' } })})`;
    const { data } = await get('/categories');
    expect(data.map((row: { name: string }) => row.name)).toEqual(['First', 'Second', 'Also second']);
    for (const row of data) expectFields(row, contract.category);
    expect(data[0].icon).toBe(`${shop.url}/uploads/demo/icon.svg`);
    expect((await get('/categories?lang=zh-CN')).data.map((row: { name: string }) => row.name)).toEqual([
      '第一',
      'Second',
      'Also second',
    ]);
  });
});

describe('best sellers', () => {
  test('by pieces sold, then sort, then newest; only products on the shelf; the id has both names', async () => {
    const { sql } = shop.database;
    const make = async (title: string, sold: number, sort = 0, status = 1) => {
      const { id, sku_ids } = await insertProduct(shop.database, { title, status });
      await sql`update catalog.products set sort = ${sort}, translations = ${sql.json({ 'zh-CN': { title: `畅销 ${title}` } })} where id = ${id}`;
      // Stock rows for the audits of the last test: sold pieces were reserved and confirmed.
      await sql`update catalog.product_skus set sold = ${sold} where id = ${sku_ids[0]!}`;
      if (sold > 0)
        await sql`insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status)
          values ('test', ${title}, ${sku_ids[0]!}, ${sold}, 'confirmed')`;
      return id;
    };
    const [few, many, none, sorted, hidden] = [
      await make('few', 3),
      await make('many', 9),
      await make('none', 0),
      await make('sorted', 3, 7),
      await make('hidden', 99, 0, 0),
    ];
    const { data } = await get('/products/recommend');
    expect(data.map((row: { id: number }) => row.id)).toEqual([many, sorted, few, none]);
    for (const row of data) {
      expectFields(row, contract.recommended);
      expect(row.product_id).toBe(row.id);
    }
    expect(data[0].sales).toBe(9);
    expect((await get('/products/recommend?lang=zh-CN')).data[0].title).toBe('畅销 many');
    expect(JSON.stringify(data)).not.toContain(`"id":${hidden},`);
  });

  test.each([
    ['', 8],
    ['?limit=', 8],
    ['?limit=3', 3],
    ['?limit=50', 50],
    ['?limit=51', 8],
    ['?limit=0', 8],
    ['?limit=-1', 8],
  ])('"%s" answers %s', async (query, rows) => {
    const { sql } = shop.database;
    await sql`insert into catalog.products (title, price)
      select 'Filler ' || n, 100 from generate_series(1, 60) as n where not exists (
        select from catalog.products where title = 'Filler 1')`;
    expect((await get(`/products/recommend${query}`)).data).toHaveLength(rows);
  });

  test('a product that has overtaken two hundred others is listed after the next refresh, which writes no other product', async () => {
    const { sql } = shop.database;
    await sql`insert into catalog.products (title, price, sort) select 'Earlier', 1, 100 from generate_series(1, 205)`;
    const [late] = await sql<{ id: number }[]>`
      select p.id from catalog.products p join catalog.product_skus s on s.product_id = p.id where p.title = 'many'`;
    const first = async () => (await get('/products/recommend?limit=1')).data[0].id;
    expect(await first()).not.toBe(late!.id);
    expect(await refreshSales(sql)).toBe(4);
    expect(await first()).toBe(late!.id);
    expect(await refreshSales(sql)).toBe(0);
    await sql`delete from catalog.products where title = 'Earlier'`;
  });
});

describe('favourites', () => {
  test('adding and removing are idempotent; the count is correct; answers are null', async () => {
    const { id } = await insertProduct(shop.database);
    const ann = await shop.shopper();
    const path = `/api/v1/products/${id}/favorite`;
    for (const method of ['POST', 'POST', 'DELETE', 'DELETE', 'POST'] as const) {
      const answer = await shop.call(method, path, { token: ann.token });
      expect(answer).toMatchObject({ code: 0, data: null });
      expect(await countOf(id)).toEqual(method === 'POST' ? [1, 1] : [0, 0]);
    }
  });

  test('a product that is missing or off the shelf cannot be added; a favourite of a deleted product can be removed', async () => {
    const { id } = await insertProduct(shop.database, { status: 0 });
    const { token } = await shop.shopper();
    for (const missing of [id, 2 ** 40]) {
      expect(await shop.call('POST', `/api/v1/products/${missing}/favorite`, { token })).toMatchObject({
        code: 10002,
        message: 'Product not found',
      });
      expect((await shop.call('POST', `/api/v1/products/${missing}/favorite?lang=zh-CN`, { token })).message).toMatch(
        chinese,
      );
      expect(await shop.call('DELETE', `/api/v1/products/${missing}/favorite`, { token })).toMatchObject({ code: 0 });
    }
    expect(await countOf(id)).toEqual([0, 0]);
  });

  test('fifty concurrent shoppers add, add again, remove and add: the counts are exact', async () => {
    const products = [
      await insertProduct(shop.database),
      await insertProduct(shop.database),
      await insertProduct(shop.database),
    ];
    const shoppers = await Promise.all(Array.from({ length: 50 }, () => shop.shopper()));
    const act = async (token: string, index: number) => {
      // In different orders, so that two requests lock two products in opposite orders.
      const order = index % 2 ? products : [...products].reverse();
      await Promise.all(order.map(({ id }) => shop.call('POST', `/api/v1/products/${id}/favorite`, { token })));
      await Promise.all([
        ...order.map(({ id }) => shop.call('POST', `/api/v1/products/${id}/favorite`, { token })),
        ...order.map(({ id }) => shop.call('DELETE', `/api/v1/products/${id}/favorite`, { token })),
      ]);
      if (index < 30) for (const { id } of order) await shop.call('POST', `/api/v1/products/${id}/favorite`, { token });
      else for (const { id } of order) await shop.call('DELETE', `/api/v1/products/${id}/favorite`, { token });
    };
    await Promise.all(shoppers.map(({ token }, index) => act(token, index)));
    for (const { id } of products) expect(await countOf(id)).toEqual([30, 30]);
  });

  test('two processes that add the same favourites concurrently count each once', async () => {
    const { sql } = shop.database;
    const { id } = await insertProduct(shop.database);
    const rows = Array.from({ length: 20 }, (_, n) => ({ user_id: 900_000 + n, product_id: id }));
    await Promise.all(Array.from({ length: 12 }, () => addFavorites(sql, rows)));
    expect(await countOf(id)).toEqual([20, 20]);
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => (n % 2 ? removeFavorites(sql, rows) : addFavorites(sql, rows))),
    );
    const [count, stored] = await countOf(id);
    expect(count).toBe(stored);
    await removeFavorites(sql, rows);
    expect(await countOf(id)).toEqual([0, 0]);
  });

  test('my list: whole cards of my favourites only, newest first, in pages, in my language', async () => {
    const [ann, bob] = [await shop.shopper(), await shop.shopper()];
    const made: number[] = [];
    for (let n = 0; n < 13; n += 1) {
      const { id } = await insertProduct(shop.database, { title: `Liked ${n}` });
      made.unshift(id);
      await shop.call('POST', `/api/v1/products/${id}/favorite`, { token: ann.token });
    }
    const { data } = await get('/user/favorites?size=12', { token: ann.token });
    expect(data).toMatchObject({ total: 13, page: 1, size: 12 });
    for (const row of data.list) {
      expectFields(row, contract.productCard);
      expectFields(row, contract.favorite);
      expect(row.is_favorited).toBe(true);
    }
    expect(data.list.map((row: { id: number }) => row.id)).toEqual(made.slice(0, 12));
    const second = await get('/user/favorites?size=12&page=2', { token: ann.token });
    expect(second.data.list.map((row: { id: number }) => row.id)).toEqual(made.slice(12));
    expect((await get('/user/favorites', { token: bob.token })).data).toMatchObject({
      list: [],
      total: 0,
      page: 1,
      size: 20,
    });
    expect((await get('/user/favorites?size=101', { token: ann.token })).data.size).toBe(20);
    const { sql } = shop.database;
    await sql`update catalog.products set status = 0, translations = ${sql.json({ 'zh-CN': { title: '喜欢' } })} where id = ${made[0]!}`;
    const [row] = (await get('/user/favorites?lang=zh-CN', { token: ann.token })).data.list;
    expect(row, 'one that left the shelf stays, and says so').toMatchObject({ id: made[0], status: 0, title: '喜欢' });
  });

  test('is_favorited is per shopper in list, search and detail, and costs one statement per page', async () => {
    const [ann, bob] = [await shop.shopper(), await shop.shopper()];
    const liked = await insertProduct(shop.database, { title: 'Heartfelt one' });
    await insertProduct(shop.database, { title: 'Heartfelt two' });
    await shop.call('POST', `/api/v1/products/${liked.id}/favorite`, { token: ann.token });
    const marks = async (token?: string) => {
      const { data } = await get('/products?keyword=heartfelt', token ? { token } : {});
      return data.list.map((row: { is_favorited: boolean }) => row.is_favorited);
    };
    expect([await marks(ann.token), await marks(bob.token), await marks(), await marks('broken')]).toEqual([
      [false, true],
      [false, false],
      [false, false],
      [false, false],
    ]);
    const detail = async (token?: string) => (await get(`/products/${liked.id}`, token ? { token } : {})).data;
    expect((await detail(ann.token)).is_favorited).toBe(true);
    expect((await detail(bob.token)).is_favorited).toBe(false);
    expect(await detail()).toMatchObject({ is_favorited: false, favorite_count: 1 });
    const sent = async (path: string, token?: string) => {
      const total = async () => (await shop.server.runtime.metrics.statements.get()).values[0]?.value ?? 0;
      const before = await total();
      await get(path, token ? { token } : {});
      return (await total()) - before;
    };
    for (const size of [1, 100]) {
      expect(await sent(`/products?size=${size}`)).toBe(1);
      expect(await sent(`/products?size=${size}`, ann.token)).toBe(2);
      expect(await sent(`/user/favorites?size=${size}`, ann.token)).toBe(1);
    }
  });
});

test('the audits pass afterwards', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
