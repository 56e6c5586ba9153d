import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Route } from '@tradepost/http';
import { label } from '@tradepost/testing/routes/inputs';
import { openRouteRequests, type RouteRequests } from '@tradepost/testing/routes/route-requests';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * The process of a PUT, PATCH or DELETE dies between its commit and its answer. The repeat with the same key changes nothing and
 * gets the first answer. The tests use all routes, so new routes are included.
 */
let shop: Shop;
let requests: RouteRequests;
let changing: Route[];
beforeAll(async () => {
  shop = await openShop();
  requests = await openRouteRequests(shop);
  changing = shop.server.routes.filter((route) => ['PUT', 'PATCH', 'DELETE'].includes(route.method));
});
afterAll(() => shop?.close());

/** Routes whose repeat changes nothing: they set a given value or delete an object. */
const natural = [
  'PUT /api/v1/cart/qty',
  'DELETE /api/v1/cart/:sku_id',
  'DELETE /api/v1/products/:id/favorite',
  'PATCH /api/admin/settings/:key',
  'PATCH /api/admin/api-tokens/:id',
  'DELETE /api/admin/api-tokens/:id',
  'PUT /api/admin/users/:id/ratelimit',
  'DELETE /api/admin/users/:id/ratelimit',
  // The log of the limiter is in Redis or in memory, so it cannot be part of a transaction.
  'DELETE /api/admin/ratelimit/usage',
  'PUT /admin/api/site-settings',
  'PUT /admin/api/config/:plugin',
  'PUT /admin/api/system/sms/config',
  'PUT /admin/api/distribution/config',
  'PUT /admin/api/admin/api/distribution/config',
  'PUT /admin/api/points/config',
];

/** Routes that refuse here, because no gateway is running. */
const refusedHere = ['DELETE /api/admin/ratelimit/usage'];

/** Makes the state of a process that died after its commit and before it stored the answer. */
const loseAnswer = (key: string) => shop.database.sql`
  update runtime.idempotency_keys set answer = null, status = null, code = null, instance = 'gone' where key = ${key}`;

test('every PUT, PATCH and DELETE records its outcome, or declares that a repeat changes nothing', () => {
  const others = changing.filter((route) => route.repeat !== 'recorded');
  expect(others.map(label).sort()).toEqual([...natural].sort());
  expect(others.filter((route) => route.repeat !== 'natural').map(label)).toEqual([]);
});

test('a repeat after a crash gets the first answer', async () => {
  const broken: string[] = [];
  for (const route of changing) {
    const paid = route.path.endsWith('/ship') ? 'paid' : 'unpaid';
    const { path, query, body } = await requests.fill(route, { order: paid, large: false });
    const token = await requests.tokenFor(route);
    const key = randomUUID();
    const send = () =>
      shop.call(route.method, path + query, {
        ...(token === undefined ? {} : { token }),
        body,
        headers: { 'idempotency-key': key },
      });
    const first = await send();
    if (first.code !== 0 && !refusedHere.includes(label(route)))
      broken.push(`${label(route)}: ${first.code} ${first.message}`);
    await loseAnswer(key);
    const again = await send();
    if (!isDeepStrictEqual(again.body, first.body))
      broken.push(`${label(route)}: ${JSON.stringify(first.body)} then ${JSON.stringify(again.body)}`);
    const replayed = again.headers.get('idempotency-replayed') === 'true';
    if (replayed !== (route.repeat === 'recorded')) broken.push(`${label(route)}: replayed ${replayed}`);
  }
  expect(broken).toEqual([]);
});

test('a repeat does not overwrite a later change', async () => {
  const { token, address_id } = await shop.shopper();
  const key = randomUUID();
  const put = (name: string, headers: Record<string, string> = {}) =>
    shop.call('PUT', `/api/v1/addresses/${address_id}`, {
      token,
      body: { name, phone: '13800000000', detail: '1 Road' },
      headers,
    });
  await put('First', { 'idempotency-key': key });
  await loseAnswer(key);
  await put('Later');
  expect((await put('First', { 'idempotency-key': key })).data.name).toBe('First');
  const { data } = await shop.call('GET', '/api/v1/addresses', { token });
  expect(data[0].name).toBe('Later');
});
