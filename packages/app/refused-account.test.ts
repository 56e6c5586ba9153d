import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The account of DATABASE_URL, which an administrator changes while the shop runs. */
const account = `refused_${process.pid}`;
let shop: Shop;
let token: string;

beforeAll(async () => {
  shop = await openShop(
    { only: 'api,gateway', gatewayPort: 0 },
    {},
    {
      async prepare({ sql, url }) {
        await sql.unsafe(`create role ${account} superuser login password 'secret'`);
        return { databaseUrl: Object.assign(new URL(url), { username: account, password: 'secret' }).toString() };
      },
    },
  );
  ({ token } = await shop.shopper());
});
afterAll(async () => {
  await shop?.database.sql.unsafe(`drop role ${account}`);
  await shop?.close();
});

test('an account that PostgreSQL no longer accepts is 503 with Retry-After, and all works again without a restart', async () => {
  const { sql } = shop.database;
  const send = (method: string, path: string, body?: object) =>
    shop.call(method, path, { token, ...(body ? { body } : {}) });
  await sql.unsafe(`alter role ${account} nologin`);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${account}`;
  const receiver = { name: 'Ann', phone: '13800000000', province: 'P', city: 'C', district: 'D', detail: '1 Road' };
  for (const [method, path, body] of [
    ['GET', '/api/v1/orders'],
    ['POST', '/api/v1/addresses', receiver],
    ['POST', '/api/auth/login', { username: 'ann', password: 'wrong' }],
  ] as const) {
    const { status, headers } = await send(method, path, body);
    expect([path, status, headers.get('retry-after')]).toEqual([path, 503, '1']);
  }
  const models = await fetch(`${shop.server.gateway!.url}/v1/models`, {
    headers: { authorization: `Bearer tp-${'x'.repeat(48)}` },
  });
  expect(models.status).toBe(503);

  await sql.unsafe(`alter role ${account} login`);
  await expect.poll(async () => (await send('GET', '/api/v1/orders')).status, { timeout: 5_000 }).toBe(200);
  expect((await send('POST', '/api/v1/addresses', receiver)).status).toBe(200);
});
