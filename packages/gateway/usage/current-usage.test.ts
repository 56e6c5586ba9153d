import { createApp, type Route, serve, type Transport } from '@tradepost/http';
import {
  type Dimension,
  dimensions,
  type EmbeddedLimiter,
  type Limits,
  openEmbeddedLimiter,
  type Subject,
} from '@tradepost/rate-limiter';
import { call } from '@tradepost/testing/client';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiTokens, openApiTokens } from '../tokens/api-tokens.ts';
import { currentUsageRoutes } from './current-usage-routes.ts';

/** Reading and resetting current usage over HTTP, on a limiter that the tests charge. */
let shop: Shop;
let limiter: EmbeddedLimiter;
let tokens: ApiTokens;
let transport: Transport;
let routes: Route[];
let staff: string;
let user: number;
let now = 1_800_000_000_000;
beforeAll(async () => {
  shop = await openShop(
    {},
    { 'gateway.models': { small: { rpm_limit: 5, tpm_limit: 50 } }, 'ratelimit.user_default_tpm': 1_000 },
  );
  const { runtime } = shop.server;
  limiter = openEmbeddedLimiter({ memoryMb: 1, now: () => now });
  tokens = await openApiTokens(runtime);
  routes = currentUsageRoutes(runtime, tokens, {
    inspect: (of) => limiter.inspect(of),
    reset: (of) => limiter.reset(of),
  });
  const authenticate = shop.server.tokens.verify;
  transport = await serve(createApp({ routes, resources: [], authenticate, runtime }), runtime.config, runtime.log);
  staff = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
  user = (await shop.shopper()).id;
});
afterAll(async () => {
  await transport?.close(1_000);
  await tokens?.close();
  await limiter?.close();
  await shop?.close();
});

const all: Limits = Object.fromEntries(dimensions.map((each) => [each, 1_000_000])) as Record<Dimension, number>;
const noSubject: Subject = { user: null, token: null, ip: null, model: null };
const path = '/api/admin/ratelimit/usage';
const ask = (method: string, kind: string, key: string) =>
  call(transport.url, routes, method, `${path}?${new URLSearchParams({ kind, key })}`, { token: staff });
const read = async (kind: string, key: string) => (await ask('GET', kind, key)).data;

test('requests and tokens of the last minute, the limits in force, and the rest', async () => {
  await tokens.setUserLimits(user, { rpm_limit: 3, tpm_limit: null }, 'cli');
  const { row } = await tokens.create({ user_id: user, tpm_limit: 0 }, 'cli');
  limiter.check({ user, token: row.id, ip: '203.0.113', model: 'small' }, all, 40);
  now += 10_000;
  limiter.check({ user, token: row.id, ip: '2001:db8::1', model: 'small' }, all, 20);
  expect(await read('user', String(user))).toEqual({
    ...{ kind: 'user', key: String(user), requests: 2, tokens: 60 },
    ...{ limits: { rpm: 3, tpm: 1_000 }, remaining: { rpm: 1, tpm: 940 }, oldest_leaves_ms: 50_000 },
  });
  expect(await read('token', String(row.id))).toMatchObject({
    ...{ requests: 2, tokens: 60, limits: { rpm: 3, tpm: null }, remaining: { rpm: 1, tpm: null } },
  });
  expect(await read('model', 'small')).toMatchObject({ limits: { rpm: 5, tpm: 50 }, remaining: { rpm: 3, tpm: 0 } });
  expect(await read('model', 'other')).toMatchObject({
    ...{ requests: 0, tokens: 0, limits: { rpm: null, tpm: null }, remaining: { rpm: null, tpm: null } },
    oldest_leaves_ms: null,
  });
  for (const address of ['203.0.113', '203.0.113.77', '::ffff:203.0.113.9', '::FFFF:203.0.113.9'])
    expect(await read('ip', address), address).toMatchObject({
      ...{ key: '203.0.113', requests: 1, limits: { rpm: 600, tpm: null }, remaining: { rpm: 599, tpm: null } },
    });
  for (const address of ['2001:db8::1', '2001:DB8:0:0:0:0:0:1'])
    expect(await read('ip', address), address).toMatchObject({
      key: '2001:db8::1',
      requests: 1,
      oldest_leaves_ms: 60_000,
    });
});

test('a reset frees the whole limit of one key and of no other', async () => {
  limiter.check({ ...noSubject, user: 41 }, all, 5);
  limiter.check({ ...noSubject, user: 42 }, all, 5);
  expect((await ask('DELETE', 'user', '41')).data).toEqual({ reset: 1 });
  expect((await ask('DELETE', 'user', '41')).data).toEqual({ reset: 0 });
  expect(await read('user', '41')).toMatchObject({ requests: 0, remaining: { rpm: 60 } });
  expect(await read('user', '42')).toMatchObject({ requests: 1, remaining: { rpm: 59 } });
});

test.each([
  ['user', 'ann', 400, 'key: must be the id of the user'],
  ['user', '0', 400, 'key: '],
  ['token', '1.5', 400, 'key: '],
  ['token', '1099511627776', 404, '1099511627776'],
  ['ip', 'localhost', 400, 'key: must be an IP address'],
  ['ip', '203.0.999', 400, 'key: '],
  ['ip', '203.0', 400, 'key: '],
  ['everything', '1', 400, 'kind: '],
])('%s %s is refused', async (kind, key, code, said) => {
  for (const method of ['GET', 'DELETE']) {
    const answer = await ask(method, kind, key);
    expect(answer).toMatchObject({ code, data: null });
    expect(answer.message).toContain(said);
  }
});

test('the usage shows what the running gateway charged; changed limits, resets and revocations apply there', async () => {
  const running = await openShop({ only: 'api,gateway', gatewayPort: 0 });
  try {
    const token = await running.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
    const { id } = await running.shopper();
    const admin = async (method: string, at: string, body?: unknown) => {
      const answer = await running.call(method, `/api/admin/${at}`, { token, body });
      if (answer.code !== 0) throw new Error(`${method} ${at}: ${answer.message}`);
      return answer.data;
    };
    const models = async (secret: string) => {
      const headers = { authorization: `Bearer ${secret}` };
      const response = await fetch(`${running.server.gateway!.url}/v1/models`, { headers });
      await response.text();
      return response.status;
    };
    const usage = 'ratelimit/usage?kind=ip&key=127.0.0.1';
    const made = await admin('POST', 'api-tokens', { user_id: id });
    expect(await models(made.secret)).toBe(200);
    await admin('DELETE', usage);
    expect([await models('tp-wrong'), await models('tp-wrong')]).toEqual([401, 401]);
    expect(await admin('GET', usage)).toMatchObject({ key: '127.0.0', requests: 2, remaining: { rpm: 598 } });
    await admin('PATCH', 'settings/ratelimit.ip_rpm', { value: 2 });
    expect(await models('tp-wrong')).toBe(429);
    expect(await admin('GET', usage)).toMatchObject({ requests: 2, limits: { rpm: 2 }, remaining: { rpm: 0 } });
    expect(await admin('DELETE', usage)).toEqual({ reset: 1 });
    expect(await models(made.secret)).toBe(200);
    await admin('DELETE', `api-tokens/${made.id}`);
    await admin('PATCH', 'settings/ratelimit.*', { ip_rpm: null });
    expect(await models(made.secret)).toBe(401);
  } finally {
    await running.close();
  }
});
