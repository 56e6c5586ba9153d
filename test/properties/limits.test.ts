import { importProducts } from '@tradepost/catalog';
import { createStaff } from '@tradepost/identity';
import type { Answer } from '@tradepost/testing/client';
import { chinese } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** One caller cannot fill the tables or the memory of the shop. Each limit also holds for requests that are sent at once. */
let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  const id = await createStaff(shop.database.sql, { username: 'owner', password: 'owner-secret' });
  staff = await shop.server.tokens.issue({ role: 'admin', id, perms: ['*'] });
});
afterAll(() => shop?.close());

const atOnce = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

/** Expects that `accepted` answers succeed and the others are refused with this code and a text with the limit. */
function expectLimit(answers: readonly Answer[], accepted: number, code: number, limit: number): void {
  const refused = answers.filter((answer) => answer.code !== 0);
  expect(answers.length - refused.length).toBe(accepted);
  expect(new Set(refused.map((answer) => `${answer.status} ${answer.code}`))).toEqual(new Set([`200 ${code}`]));
  for (const { message } of refused) expect(message.replaceAll(',', '')).toContain(String(limit));
}

describe('the limit of a shopper', () => {
  const address = { name: 'Bo', phone: '13900000000', detail: '2 Road' };

  test('addresses: 70 requests at once leave 50 addresses, and the list shows them', async () => {
    const { token } = await shop.shopper();
    const add = (lang = 'en') => shop.call('POST', '/api/v1/addresses', { token, body: address, lang });
    expectLimit(await atOnce(70, () => add()), 49, 409, 50);
    const { data } = await shop.call('GET', '/api/v1/addresses', { token });
    expect(data).toHaveLength(50);
    expect((await add('zh-CN')).message).toMatch(chinese);
    // A refused default address does not change the present default.
    const body = { ...address, is_default: 1 };
    expect((await shop.call('POST', '/api/v1/addresses', { token, body })).code).toBe(409);
    const after = await shop.call('GET', '/api/v1/addresses', { token });
    expect(after.data.filter((row: { is_default: number }) => row.is_default === 1)).toHaveLength(1);
    // After a deletion a new address is accepted.
    await shop.call('DELETE', `/api/v1/addresses/${data[49].id}`, { token });
    expect((await add()).code).toBe(0);
  });

  test('favourites: more than 2,000 are refused; an existing favourite is kept, and after a deletion a new one is accepted', async () => {
    const buyer = await shop.shopper();
    const ids = (
      await shop.database.sql<{ id: number }[]>`
        insert into catalog.products (title, price, status)
        select 'Product ' || n, 100, 1 from generate_series(1, 2010) as n returning id`
    ).map((row) => row.id);
    await shop.database.sql`
      with made as (
        insert into catalog.favorites (user_id, product_id)
        select ${buyer.id}, id from unnest(${ids.slice(0, 1_995)}::bigint[]) as id returning product_id)
      update catalog.products set favorite_count = 1 where id in (select product_id from made)`;
    const like = (id: number, method: 'POST' | 'DELETE' = 'POST') =>
      shop.call(method, `/api/v1/products/${id}/favorite`, { token: buyer.token });
    const answers = [];
    for (const id of ids.slice(1_995, 2_005)) answers.push(await like(id));
    expectLimit(answers, 5, 409, 2_000);
    expect((await like(ids[0]!)).code, 'already a favourite').toBe(0);
    expect((await like(999_999_999)).code).toBe(10002);
    await like(ids[0]!, 'DELETE');
    expect((await like(ids.at(-1)!)).code).toBe(0);
    expect((await like(ids[0]!)).code).toBe(409);
    const { data } = await shop.call('GET', '/api/v1/user/favorites?size=1', { token: buyer.token });
    expect(data.total).toBe(2_000);
  });

  test('cart lines: 60 new lines at once, with 170 present, leave 200; present lines still accept more pieces', async () => {
    const buyer = await shop.shopper();
    const { token } = buyer;
    const { sku_ids: skus } = await insertProduct(shop.database, { stocks: Array(240).fill(10) });
    await shop.database.sql`
      insert into orders.cart_lines (user_id, sku_id, activity_product_id, qty)
      select ${buyer.id}, id, 0, 1 from unnest(${skus.slice(0, 170)}::bigint[]) as s (id)`;
    const add = (sku_id: number, key?: string) =>
      shop.call('POST', '/api/v1/cart/add', {
        token,
        body: { sku_id, qty: 1 },
        ...(key ? { headers: { 'idempotency-key': key } } : {}),
      });
    // Half of the requests have a key, because those use another code path.
    const answers = await atOnce(60, (n) => add(skus[170 + n]!, n % 2 ? `line-${n}` : undefined));
    expectLimit(answers, 30, 409, 200);
    const cart = async () => (await shop.call('GET', '/api/v1/cart', { token })).data;
    expect(await cart()).toHaveLength(200);
    expect((await add(skus[0]!)).code).toBe(0);
    expect((await cart())[0].qty).toBe(2);
    expect((await add(skus[239]!)).code).toBe(409);
    await shop.call('DELETE', `/api/v1/cart/${skus[0]}`, { token });
    expect((await add(skus[239]!)).code).toBe(0);
    const order = await shop.call('POST', '/api/v1/orders', { token, body: { address_id: buyer.address_id } });
    expect(order.code, 'the whole cart fits into one order').toBe(0);
    expect(
      order.data.items ?? (await shop.call('GET', `/api/v1/orders/${order.data.id}`, { token })).data.items,
    ).toHaveLength(200);
  });

  test('API tokens: 40 requests at once, with 980 present, leave 1,000', async () => {
    const { id } = await shop.shopper();
    await shop.database.sql`
      insert into gateway.api_tokens (user_id, name, prefix, token_hash)
      select ${id}, 'n', 'tp-' || n, decode(md5(n || ${`/${id}`}), 'hex') || decode(md5(n::text), 'hex')
      from generate_series(1, 980) as n`;
    const answers = await atOnce(40, () =>
      shop.call('POST', '/api/admin/api-tokens', { token: staff, body: { user_id: id } }),
    );
    expectLimit(answers, 20, 409, 1000);
  });
});

describe('the limit of the shop', () => {
  test('notes of an order: 70 requests at once leave 50', async () => {
    const buyer = await shop.shopper();
    const { sku_ids } = await insertProduct(shop.database);
    const { data: order } = await shop.call('POST', '/api/v1/orders', {
      token: buyer.token,
      body: { address_id: buyer.address_id, items: [{ sku_id: sku_ids[0] }] },
    });
    const answers = await atOnce(70, (n) =>
      shop.call('POST', `/admin/api/orders/${order.id}/notes`, { token: staff, body: { content: `note ${n}` } }),
    );
    expectLimit(answers, 50, 500, 50);
    const { data } = await shop.call('GET', `/admin/api/orders/${order.id}`, { token: staff });
    expect(data.notes).toHaveLength(50);
  });

  const rows = (table: string) =>
    shop.database.sql<{ n: number }[]>`select count(*)::int as n from ${shop.database.sql(table)}`.then(
      ([row]) => row!.n,
    );

  test('roles: more than 200 are refused', async () => {
    await shop.database.sql`
      insert into identity.roles (name, permissions)
      select 'filler ' || n, '{}' from generate_series(1, ${190 - (await rows('identity.roles'))}::int) n`;
    const answers = await atOnce(30, (n) =>
      shop.call('POST', '/admin/api/roles', { token: staff, body: { name: `role ${n}`, permissions: [] } }),
    );
    expectLimit(answers, 10, 409, 200);
    expect((await shop.call('GET', '/admin/api/roles', { token: staff })).data).toHaveLength(200);
  });

  test('administrators: more than 1,000 are refused', async () => {
    const { sql } = shop.database;
    await sql`
      insert into identity.staff (username, password_hash, role_id)
      select 'filler' || n, '', (select min(id) from identity.roles)
      from generate_series(1, ${995 - (await rows('identity.staff'))}::int) n`;
    const [role] = await sql`select min(id) as id from identity.roles`;
    const answers = await atOnce(10, (n) =>
      shop.call('POST', '/admin/api/admins', {
        token: staff,
        body: { username: `staff${n}`, password: 'long-enough', role_id: role!.id },
      }),
    );
    expectLimit(answers, 5, 409, 1000);
    expect((await shop.call('GET', '/admin/api/admins', { token: staff })).data).toHaveLength(1_000);
  });

  test('categories: more than 2,000 are refused, in the editor and in a file', async () => {
    await shop.database.sql`
      insert into catalog.categories (name)
      select 'filler ' || n from generate_series(1, ${1_990 - (await rows('catalog.categories'))}::int) n`;
    const answers = await atOnce(30, (n) =>
      shop.call('POST', '/admin/api/categories', { token: staff, body: { name: `category ${n}` } }),
    );
    expectLimit(answers, 10, 409, 2000);
    for (const path of ['/admin/api/categories', '/api/v1/categories', '/admin/api/categories/tree'])
      expect((await shop.call('GET', path, { token: staff })).data).toHaveLength(2_000);
    const file = Buffer.from('handle,title,price,sku_code,category\nk,Mug,5,LIMIT-MUG,Another one\n');
    const importing = importProducts(
      shop.database.sql,
      (async function* () {
        yield file;
      })(),
    );
    await expect(importing).rejects.toThrow(/line 2: category: .*2000/);
  });

  test('warehouses: more than 1,000 are refused', async () => {
    await shop.database.sql`
      insert into inventory.warehouses (code, name)
      select 'F' || n, 'filler' from generate_series(1, ${990 - (await rows('inventory.warehouses'))}::int) n`;
    const answers = await atOnce(30, (n) =>
      shop.call('POST', '/admin/api/wms/warehouses', { token: staff, body: { code: `W${n}`, name: 'w' } }),
    );
    expectLimit(answers, 10, 409, 1000);
    const { data } = await shop.call('GET', '/admin/api/wms/warehouses', { token: staff });
    expect([data.list.length, data.total]).toEqual([1_000, 1_000]);
  });

  test('SKUs of a product: more than 1,000, with those of earlier specifications, are refused', async () => {
    const product = { title: 'Shirt', price: 10 };
    const specs = (round: number) => [{ name: 'Size', values: Array.from({ length: 300 }, (_, n) => `${round}-${n}`) }];
    const made = await shop.call('POST', '/admin/api/products', {
      token: staff,
      body: { product, spec_schema: specs(0) },
    });
    expect(made.code).toBe(0);
    const change = (round: number) =>
      shop.call('PUT', `/admin/api/products/${made.data.id}`, { token: staff, body: { spec_schema: specs(round) } });
    expect([(await change(1)).code, (await change(2)).code]).toEqual([0, 0]);
    expectLimit([await change(3)], 0, 400, 1000);
    expect((await change(1)).code, 'earlier specifications can be used again').toBe(0);
  });
});
