import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@tradepost/app';
import { createStaff } from '@tradepost/identity';
import { loadConfig, openLog } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { costOfFingerprints } from '@tradepost/testing/cheap-hashes';
import { call } from '@tradepost/testing/client';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../packages/http/openapi/example.ts';
import { keysBetweenCounts } from '../../packages/runtime/idempotency/idempotency-quota.ts';

let shop: Shop;
let second: Server;
let data: string;
let sku: number;

beforeAll(async () => {
  costOfFingerprints('real');
  shop = await openShop();
  data = await mkdtemp(join(tmpdir(), 'tradepost-second-'));
  const flags = { databaseUrl: shop.database.url, data, port: 0, seed: 'none', only: 'api', databasePool: 8 };
  second = await startServer({ config: loadConfig({ env: {}, flags }).config, log: openLog({ level: 'silent' }) });
  sku = (await insertProduct(shop.database, { stocks: [10_000] })).sku_ids[0]!;
});
afterAll(async () => {
  costOfFingerprints('least');
  await second.stop();
  await shop.close();
  await rm(data, { recursive: true, force: true });
});

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
type Buyer = Awaited<ReturnType<Shop['shopper']>>;
const orderOf = (buyer: Buyer, key: string, extra: object = {}) => ({
  token: buyer.token,
  body: { address_id: buyer.address_id, items: [{ sku_id: sku }], ...extra },
  ...keyed(key),
});
const ordersOf = async (buyer: Buyer) => {
  const [row] = await shop.database.sql<{ n: number }[]>`
    select count(*)::int as n from orders.orders where user_id = ${buyer.id}`;
  return row!.n;
};
/** Makes the state of a process that died before it stored the answer. */
const loseAnswer = (key: string, { outcome = true } = {}) => shop.database.sql`
  update runtime.idempotency_keys
  set answer = null, status = null, code = null, instance = 'gone', outcome = ${outcome ? shop.database.sql`outcome` : null}
  where key = ${key}`;

describe('a repeated order with the same key', () => {
  test('places one order, and both calls get the same answer', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    const first = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    const again = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    expect(first.code).toBe(0);
    expect(again.body).toEqual(first.body);
    expect([first, again].map((answer) => answer.headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    expect(await ordersOf(buyer)).toBe(1);
  });

  test('50 calls at once on two instances place one order', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    const urls = [shop.url, second.transport!.url];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        call(urls[n % 2]!, shop.server.routes, 'POST', '/api/v1/orders', orderOf(buyer, key)),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers[0]!.code).toBe(0);
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') !== 'true')).toHaveLength(1);
    expect(await ordersOf(buyer)).toBe(1);
  });

  test('with another body, path or method is refused and changes nothing', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    const first = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    const others = [
      await shop.call('POST', '/api/v1/orders', orderOf(buyer, key, { remark: 'other' })),
      await shop.call('POST', `/api/v1/orders/${first.data.id}/pay`, { token: buyer.token, ...keyed(key) }),
      await shop.call('DELETE', `/api/v1/addresses/${buyer.address_id}`, { token: buyer.token, ...keyed(key) }),
    ];
    expect(others.map(({ status, code }) => [status, code])).toEqual([
      [422, 422],
      [422, 422],
      [422, 422],
    ]);
    expect(others[0]!.message).toContain('Idempotency-Key');
    const zh = await shop.call('POST', '/api/v1/orders', { ...orderOf(buyer, key, { remark: 'x' }), lang: 'zh-CN' });
    expect(zh.message).toContain('已用于其他请求');
    expect(await ordersOf(buyer)).toBe(1);
  });

  test('a key belongs to its caller: another shopper can use the same key', async () => {
    const [one, two] = [await shop.shopper(), await shop.shopper()];
    const key = randomUUID();
    const first = await shop.call('POST', '/api/v1/orders', orderOf(one, key));
    const other = await shop.call('POST', '/api/v1/orders', orderOf(two, key));
    expect([first.code, other.code]).toEqual([0, 0]);
    expect(other.data.user_id).toBe(two.id);
    expect(other.headers.get('idempotency-replayed')).toBeNull();
  });

  test('a refusal is stored too: a repeat places no order, even if stock has arrived since', async () => {
    const buyer = await shop.shopper();
    const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
    const key = randomUUID();
    const options = orderOf(buyer, key, { items: [{ sku_id: sku_ids[0] }] });
    expect((await shop.call('POST', '/api/v1/orders', options)).code).toBe(20001);
    await shop.database.sql`update catalog.product_skus set stock = 5 where id = ${sku_ids[0]!}`;
    expect((await shop.call('POST', '/api/v1/orders', options)).code).toBe(20001);
    expect(await ordersOf(buyer)).toBe(0);
  });

  test('invalid input and an invalid token do not use the key', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    const bad = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key, { address_id: 'x' }));
    expect(bad.code).toBe(400);
    const unauthorized = await shop.call('POST', '/api/v1/orders', { ...orderOf(buyer, key), token: 'x.y.z' });
    expect(unauthorized.code).toBe(401);
    expect((await shop.call('POST', '/api/v1/orders', orderOf(buyer, key))).code).toBe(0);
  });
});

describe('the process dies between the commit and its answer', () => {
  test('a repeated order gets the answer of the first call and places no second order', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    const first = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    await loseAnswer(key);
    const again = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await ordersOf(buyer)).toBe(1);
  });

  test('a repeated payment, cancellation or addition to the cart is not executed twice', async () => {
    const buyer = await shop.shopper();
    const orders = [];
    for (const verb of ['pay', 'cancel']) {
      const { data: order } = await shop.call('POST', '/api/v1/orders', orderOf(buyer, randomUUID()));
      const key = randomUUID();
      const path = `/api/v1/orders/${order.id}/${verb}`;
      expect((await shop.call('POST', path, { token: buyer.token, ...keyed(key) })).code).toBe(0);
      await loseAnswer(key);
      expect((await shop.call('POST', path, { token: buyer.token, ...keyed(key) })).code).toBe(0);
      // Without the key the call is refused, because the order has left its state.
      expect((await shop.call('POST', path, { token: buyer.token })).code).toBe(500);
      orders.push(order.id);
    }
    const key = randomUUID();
    const options = { token: buyer.token, body: { sku_id: sku, qty: 3 }, ...keyed(key) };
    await shop.call('POST', '/api/v1/cart/add', options);
    await loseAnswer(key);
    await shop.call('POST', '/api/v1/cart/add', options);
    const cart = await shop.call('GET', '/api/v1/cart', { token: buyer.token });
    expect(cart.data[0].qty).toBe(3);
  });

  test('a repeated instant payment gets its first answer and no refusal', async () => {
    const buyer = await shop.shopper();
    const { data: order } = await shop.call('POST', '/api/v1/orders', orderOf(buyer, randomUUID()));
    const key = randomUUID();
    const options = { token: buyer.token, body: { order_id: order.id, provider: 'instant' }, ...keyed(key) };
    const first = await shop.call('POST', '/api/pay/create', options);
    await loseAnswer(key);
    expect((await shop.call('POST', '/api/pay/create', options)).data).toEqual(first.data);
  });

  test('repeats of a request that another instance runs wait at the same time, not one after the other', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    await shop.database.sql`update runtime.idempotency_keys set answer = null where key = ${key}`;
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        call(second.transport!.url, shop.server.routes, 'POST', '/api/v1/orders', orderOf(buyer, key)),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual([409, 409, 409, 409]);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  test('if the process dies before the commit, the repeat runs the request', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    await shop.database.sql`
      with o as (delete from orders.orders where user_id = ${buyer.id} returning id, order_no),
      i as (delete from orders.order_items where order_id in (select id from o)),
      h as (delete from orders.order_history where order_id in (select id from o)),
      s as (delete from inventory.order_inventory_state where order_no in (select order_no from o)),
      r as (delete from inventory.inventory_reservation where biz_no in (select order_no from o) returning sku_id, qty)
      update catalog.product_skus k set reserved_stock = reserved_stock - r.qty from r where r.sku_id = k.id`;
    await loseAnswer(key, { outcome: false });
    expect((await shop.call('POST', '/api/v1/orders', orderOf(buyer, key))).code).toBe(0);
    expect(await ordersOf(buyer)).toBe(1);
  });

  test('a write without a recorded outcome is refused and not executed twice; with one it is answered', async () => {
    const buyer = await shop.shopper();
    const body = { name: 'Bo', phone: '13900000000', detail: '2 Road' };
    const [made, changed] = [randomUUID(), randomUUID()];
    const options = { token: buyer.token, body };
    await shop.call('POST', '/api/v1/addresses', { ...options, ...keyed(made) });
    await shop.call('PUT', `/api/v1/addresses/${buyer.address_id}`, { ...options, ...keyed(changed) });
    await loseAnswer(made);
    await loseAnswer(changed);
    const again = await shop.call('POST', '/api/v1/addresses', { ...options, ...keyed(made) });
    expect([again.status, again.code]).toEqual([409, 409]);
    expect(again.message).toContain('interrupted');
    // The repeat does not claim the row: a process that is alive could still store its answer.
    const [owner] = await shop.database.sql`select instance from runtime.idempotency_keys where key = ${made}`;
    expect(owner!.instance).toBe('gone');
    const put = await shop.call('PUT', `/api/v1/addresses/${buyer.address_id}`, { ...options, ...keyed(changed) });
    expect(put.code).toBe(0);
    const list = await shop.call('GET', '/api/v1/addresses', { token: buyer.token });
    expect(list.data).toHaveLength(2);
  });

  test('a repeat waits for a request that another live instance still runs', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    const first = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    const { sql } = shop.database;
    const [row] = await sql<{ answer: string; instance: string }[]>`
      select answer, instance from runtime.idempotency_keys where key = ${key}`;
    await sql`update runtime.idempotency_keys set answer = null where key = ${key}`;
    // The repeat goes to the second instance, while the first one is alive.
    const waiting = call(second.transport!.url, shop.server.routes, 'POST', '/api/v1/orders', orderOf(buyer, key));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await sql`update runtime.idempotency_keys set answer = ${row!.answer} where key = ${key}`;
    expect((await waiting).body).toEqual(first.body);
    expect(await ordersOf(buyer)).toBe(1);
  });
});

describe('an Idempotency-Key', () => {
  test('that is not 1 to 255 visible ASCII characters is refused by name, and nothing changes', async () => {
    const buyer = await shop.shopper();
    for (const key of ['', 'a b', 'cl\xe9-1', 'x'.repeat(256)]) {
      const answer = await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
      expect([answer.status, answer.code]).toEqual([200, 400]);
      expect(answer.message).toContain('Idempotency-Key');
    }
    expect(await ordersOf(buyer)).toBe(0);
  });

  test('expires after a day and can then be used for a new request', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    await shop.call('POST', '/api/v1/orders', orderOf(buyer, key));
    const [row] = await shop.database.sql<{ hours: number }[]>`
      update runtime.idempotency_keys set expires_at = now() - interval '1 second' where key = ${key}
      returning round(extract(epoch from (select expires_at from runtime.idempotency_keys where key = ${key}) - claimed_at)
        / 3600)::int as hours`;
    expect(row!.hours).toBe(24);
    expect((await shop.call('POST', '/api/v1/orders', orderOf(buyer, key, { remark: 'new' }))).code).toBe(0);
    expect(await ordersOf(buyer)).toBe(2);
  });

  test('over the limit of an account is refused by name, and stored keys still get their answer', async () => {
    const [greedy, other] = [await shop.shopper(), await shop.shopper()];
    const put = (buyer: Buyer, key?: string) =>
      shop.call('PUT', `/api/v1/addresses/${buyer.address_id}`, {
        token: buyer.token,
        body: { name: 'Bo', phone: '13900000000', detail: '2 Road' },
        ...(key === undefined ? {} : keyed(key)),
      });
    const storedKeys = async () =>
      (
        await shop.database.sql`
        select count(*)::int as n from runtime.idempotency_keys where caller = ${`user:${greedy.id}`}`
      )[0]!.n;
    await shop.server.runtime.settings.set('idempotency.keys_per_caller', 100);
    try {
      const answers = [];
      for (let sent = 0; sent < 1_000; sent += 50)
        answers.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => put(greedy, `greedy-${sent + n}`)))));
      expect(await storedKeys()).toBeLessThanOrEqual(100 + keysBetweenCounts + 50);
      const refused = answers.filter((answer) => answer.code !== 0);
      expect(refused.length).toBe(1_000 - (await storedKeys()));
      expect(new Set(refused.map(({ status, message }) => `${status} ${message}`))).toEqual(
        new Set(['429 Idempotency-Key: more than 100 new keys in 24 hours; send requests without a key, or wait']),
      );
      expect((await put(greedy, 'greedy-0')).headers.get('idempotency-replayed')).toBe('true');
      expect((await put(greedy)).code, 'without a key').toBe(0);
      expect((await put(other, 'greedy-0')).code).toBe(0);
    } finally {
      await shop.server.runtime.settings.unset('idempotency.keys_per_caller');
    }
  });

  test('is not stored for reads and logins, so no token is stored', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    await shop.call('GET', '/api/v1/orders', { token: buyer.token, ...keyed(key) });
    await shop.call('POST', '/api/auth/login', { body: { username: 'x', password: 'y' }, ...keyed(key) });
    const rows = await shop.database.sql`select key from runtime.idempotency_keys where key = ${key}`;
    expect(rows).toEqual([]);
  });

  test('is allowed in requests of browsers from another origin', async () => {
    const response = await fetch(`${shop.url}/api/v1/orders`, { method: 'OPTIONS' });
    expect(response.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
  });
});

describe('another request with a used key', () => {
  const refused = { status: 422, code: 422, data: null };
  let owner: number;
  beforeAll(async () => {
    owner = await createStaff(shop.database.sql, { username: 'owner', password: 'owner-secret' });
  });
  const staffToken = () => shop.server.tokens.issue({ role: 'admin', id: owner, perms: ['*'] });

  test('with another password is refused, not answered as if the password had been changed', async () => {
    const token = await staffToken();
    const { data: role } = await shop.call('POST', '/admin/api/roles', { token, body: { name: 'r', permissions: [] } });
    const username = 'keyed-staff';
    const made = await shop.call('POST', '/admin/api/admins', {
      token,
      body: { username, password: 'first-secret', role_id: role.id },
    });
    const key = randomUUID();
    const change = (password: string, url = shop.url) =>
      call(url, shop.server.routes, 'PUT', `/admin/api/admins/${made.data.id}`, {
        token,
        body: { password },
        ...keyed(key),
      });
    const logsIn = async (password: string) =>
      (await shop.call('POST', '/admin/api/auth/login', { body: { username, password } })).code === 0;

    expect((await change('second-secret')).code).toBe(0);
    for (const url of [shop.url, second.transport!.url])
      expect(await change('third-secret', url)).toMatchObject(refused);
    expect([await logsIn('second-secret'), await logsIn('third-secret')]).toEqual([true, false]);
    // The same request still gets its answer, also from another process.
    for (const url of [shop.url, second.transport!.url]) {
      const again = await change('second-secret', url);
      expect([again.code, again.headers.get('idempotency-replayed')]).toEqual([0, 'true']);
    }
    // A change of the signing key changes nothing: the fingerprint does not depend on it.
    await shop.server.tokens.rotate({ revokeOld: false });
    expect((await change('second-secret')).code).toBe(0);
    expect(await change('third-secret')).toMatchObject(refused);
  });

  test('a password cannot be found from the stored fingerprint by a fast hash, or guessed for all rows at once', async () => {
    const token = await staffToken();
    const rows = async (key: string) =>
      shop.database.sql<{ row: string; fingerprint: Buffer }[]>`
        select k::text as row, fingerprint from runtime.idempotency_keys k where key = ${key}`;
    const keys = [randomUUID(), randomUUID()];
    const body = { username: '', password: 'guessable', role_id: 999_999 };
    for (const key of keys)
      await shop.call('POST', '/admin/api/admins', { token, body: { ...body, username: 'same-name' }, ...keyed(key) });
    const [[one], [two]] = [await rows(keys[0]!), await rows(keys[1]!)];
    expect(one!.row + two!.row).not.toContain('guessable');
    expect(one!.fingerprint.equals(two!.fingerprint), 'each row has a salt of its own').toBe(false);
    const text = JSON.stringify({ ...body, username: 'same-name' });
    const plain = createHash('sha256').update('POST /admin/api/admins?\n').update(text).digest();
    expect(one!.fingerprint.equals(plain), 'a plain digest of the request').toBe(false);
  });

  test('every secret of a request body has the format password, which the fingerprint depends on', async () => {
    const unnamed: string[] = [];
    const walk = (schema: JsonSchema, at: string): void => {
      for (const [name, part] of Object.entries(schema.properties ?? {})) {
        if (/password|secret/i.test(name) && part.format !== 'password') unnamed.push(`${at}.${name}`);
        walk(part, `${at}.${name}`);
      }
      for (const part of [schema.items, ...(schema.anyOf ?? [])]) if (part) walk(part, at);
    };
    for (const { method, path, body } of shop.server.routes)
      if (body) walk(body.toJSONSchema({ io: 'input', unrepresentable: 'any' }) as JsonSchema, `${method} ${path}`);
    expect(unnamed).toEqual([]);
  });

  test('with another query, path parameter or order of fields is refused; another language is the same request', async () => {
    const buyer = await shop.shopper();
    const body = { name: 'Bo', phone: '13900000000', detail: '2 Road' };
    const { token } = buyer;
    const { data: other } = await shop.call('POST', '/api/v1/addresses', { token, body });
    const key = randomUUID();
    const put = (id: number, query: string, given: object = body) =>
      shop.call('PUT', `/api/v1/addresses/${id}${query}`, { token, body: given, ...keyed(key) });
    expect((await put(buyer.address_id, '')).data.id).toBe(buyer.address_id);
    expect(await put(other.id, '')).toMatchObject(refused);
    expect(await put(buyer.address_id, '?x=1')).toMatchObject(refused);
    expect(await put(buyer.address_id, '', { detail: body.detail, phone: body.phone, name: body.name })).toMatchObject(
      refused,
    );
    expect((await put(buyer.address_id, '?lang=zh-CN')).data.id).toBe(buyer.address_id);
  });

  test('an administrator with the id of a shopper does not see the shopper’s answer', async () => {
    const buyer = await shop.shopper();
    const key = randomUUID();
    const logout = (token: string) => shop.call('POST', '/api/auth/logout', { token, ...keyed(key) });
    const admin = await shop.server.tokens.issue({ role: 'admin', id: buyer.id, perms: [] });
    expect((await logout(buyer.token)).headers.get('idempotency-replayed')).toBeNull();
    const answer = await logout(admin);
    expect([answer.code, answer.headers.get('idempotency-replayed')]).toEqual([0, null]);
    // The request of the administrator was executed: this token is revoked.
    expect((await shop.call('GET', '/api/auth/profile', { token: admin })).code).toBe(401);
  });

  test('from other accounts at the same time is executed for each account', async () => {
    const buyers = await Promise.all(Array.from({ length: 10 }, () => shop.shopper()));
    const key = randomUUID();
    const answers = await Promise.all(buyers.map((buyer) => shop.call('POST', '/api/v1/orders', orderOf(buyer, key))));
    expect(answers.map((answer) => answer.data.user_id)).toEqual(buyers.map((buyer) => buyer.id));
  });
});

test('after these requests the audits pass', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
