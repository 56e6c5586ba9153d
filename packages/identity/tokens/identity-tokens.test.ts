import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, startServer } from '@tradepost/app';
import { openModules } from '@tradepost/module';
import { loadConfig, openLog, runDueJobs } from '@tradepost/runtime';
import { call } from '@tradepost/testing/client';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createStaff, inspectToken } from '../index.ts';

/** Tokens end on all instances: two servers on one database. */
let shop: Shop;
let second: Server;
let data: string;
let boss: string;
const ids: Record<string, number> = {};
beforeAll(async () => {
  shop = await openShop();
  data = await mkdtemp(join(tmpdir(), 'tradepost-second-'));
  const flags = { databaseUrl: shop.database.url, data, port: 0, seed: 'none', only: 'api', databasePool: 4 };
  const { config } = loadConfig({ env: {}, flags });
  second = await startServer({ config, log: openLog({ level: 'silent' }) });
  const { sql } = shop.server.runtime;
  await createStaff(sql, { username: 'boss', password: 'boss-secret' });
  await sql`insert into identity.roles (name, permissions) values ('Clerk', '{order:view}'), ('Packer', '{order:ship}')`;
  for (const name of ['ann', 'bob', 'carl', 'dora', 'emil', 'finn'])
    ids[name] = await createStaff(sql, { username: name, password: 'staff-secret', role: 'Clerk' });
  boss = await shop.login('boss', 'boss-secret');
});
afterAll(async () => {
  await second?.stop();
  await shop?.close();
  await rm(data, { recursive: true, force: true });
});

const onSecond = (path: string, token: string) => call(second.transport!.url, second.routes, 'GET', path, { token });
const profile = '/api/auth/profile';
/** The HTTP status that this token gets on both instances. */
const statusOf = async (token: string) => [
  (await shop.call('GET', profile, { token })).status,
  (await onSecond(profile, token)).status,
];
const good = [200, 200];
const ended = [401, 401];
const bothSay = (token: string, statuses: number[]) =>
  vi.waitFor(async () => expect(await statusOf(token)).toEqual(statuses), { timeout: 3_000, interval: 20 });
const change = (id: number, body: object) => shop.call('PUT', `/admin/api/admins/${id}`, { token: boss, body });

describe('an administrator who', () => {
  test.each([
    ['is disabled', 'ann', (id: number) => change(id, { status: 0 })],
    ['gets a new password', 'bob', (id: number) => change(id, { password: 'another-secret' })],
    ['gets another role', 'carl', (id: number) => change(id, { role_id: 3 })],
    ['is deleted', 'dora', (id: number) => shop.call('DELETE', `/admin/api/admins/${id}`, { token: boss })],
  ])('%s is logged out on all instances', async (_what, name, act) => {
    const tokens = [await shop.login(name, 'staff-secret'), await shop.login(name, 'staff-secret')];
    for (const token of tokens) expect(await statusOf(token)).toEqual(good);
    expect((await act(ids[name]!)).code).toBe(0);
    expect((await shop.call('GET', profile, { token: tokens[0]! })).status, 'here at once').toBe(401);
    for (const token of tokens) await bothSay(token, ended);
    expect(await statusOf(boss), 'another account').toEqual(good);
  });

  test('logs in again within the same second gets a token that is valid on all instances', async () => {
    const id = ids.emil!;
    for (let round = 0; round < 5; round += 1) {
      const before = await shop.login('emil', 'staff-secret');
      expect((await change(id, { password: 'staff-secret' })).code).toBe(0);
      const after = await shop.login('emil', 'staff-secret');
      expect((await shop.call('GET', profile, { token: after })).status).toBe(200);
      expect((await onSecond(profile, after)).status, 'also where the news has not arrived').toBe(200);
      await bothSay(before, ended);
      expect(await statusOf(after)).toEqual(good);
    }
  });

  test('logs in while the account is being disabled does not keep a token', async () => {
    const id = ids.finn!;
    for (let round = 0; round < 3; round += 1) {
      await change(id, { status: 1 });
      const logins = Array.from({ length: 6 }, () =>
        shop.call('POST', '/api/auth/login', { body: { username: 'finn', password: 'staff-secret' } }),
      );
      await sleep(15 * round);
      const [answers] = await Promise.all([Promise.all(logins), change(id, { status: 0 })]);
      for (const { data } of answers) if (data?.token) await bothSay(data.token, ended);
    }
  });

  test('is logged out when the permissions of the role change, but not when its name changes', async () => {
    const token = await shop.login('emil', 'staff-secret');
    const put = (body: object) => shop.call('PUT', '/admin/api/roles/2', { token: boss, body });
    expect((await put({ name: 'Clerks', permissions: ['order:view'] })).code).toBe(0);
    expect(await statusOf(token)).toEqual(good);
    expect((await put({ permissions: ['order:view', 'order:ship'] })).code).toBe(0);
    await bothSay(token, ended);
    const again = await shop.login('emil', 'staff-secret');
    expect((await shop.call('GET', profile, { token: again })).data.perms).toEqual(['order:view', 'order:ship']);
  });
});

test('a deleted shopper is logged out on all instances', async () => {
  const phone = '13712340001';
  const code = async () =>
    (await shop.call('POST', '/api/v1/auth/sms/send', { body: { phone } })).data.dev_code as string;
  await shop.server.runtime.settings.set('sms.resend_seconds', 0);
  const body = { phone, code: await code() };
  const { token } = (await shop.call('POST', '/api/v1/auth/sms/login', { body })).data;
  expect(await statusOf(token)).toEqual(good);
  const given = { phone, code: await code() };
  expect((await shop.call('POST', '/api/v1/user/delete', { token, body: given })).code).toBe(0);
  await bothSay(token, ended);
});

test('an instance that missed the notifications reads the table after a restart', async () => {
  const { id, token } = await shop.shopper();
  await shop.database.sql`
    insert into identity.token_floors (role, account_id, generation, raised_at)
    values ('user', ${id}, nextval('identity.token_generation'), now())`;
  await second.stop();
  const flags = { databaseUrl: shop.database.url, data, port: 0, seed: 'none', only: 'api', databasePool: 4 };
  const { config } = loadConfig({ env: {}, flags });
  second = await startServer({ config, log: openLog({ level: 'silent' }) });
  expect((await onSecond(profile, token)).status).toBe(401);
});

test('ending the tokens of a shopper keeps those of the administrator with the same id', async () => {
  const { id, token } = await shop.shopper();
  await shop.server.tokens.endAll('admin', [id]);
  expect((await shop.call('GET', profile, { token })).status).toBe(200);
  await shop.server.tokens.endAll('user', [id]);
  expect((await shop.call('GET', profile, { token })).status).toBe(401);
});

test('after two parallel ends, tokens that were issued between them are void too', async () => {
  const { id } = await shop.shopper();
  await Promise.all(Array.from({ length: 8 }, () => shop.server.tokens.endAll('user', [id])));
  const between = await shop.server.tokens.issue({ role: 'user', id, perms: [] });
  expect(await statusOf(between)).toEqual(good);
  await Promise.all([second.tokens.endAll('user', [id]), shop.server.tokens.endAll('user', [id])]);
  await bothSay(between, ended);
});

describe('signing keys', () => {
  test('a new key signs on all instances; old tokens stay valid until they are revoked', async () => {
    const { id, token: old } = await shop.shopper();
    const { kid } = await shop.server.tokens.rotate({ revokeOld: false });
    const fresh = await shop.server.tokens.issue({ role: 'user', id, perms: [] });
    expect((await inspectToken(shop.server.runtime, fresh)).kid).toBe(kid);
    await bothSay(fresh, good);
    expect(await statusOf(old)).toEqual(good);
    await shop.server.tokens.rotate({ revokeOld: true });
    for (const token of [old, fresh]) await bothSay(token, ended);
    const last = await shop.server.tokens.issue({ role: 'user', id, perms: [] });
    await bothSay(last, good);
    boss = await shop.login('boss', 'boss-secret');
  });

  test('keys that no valid token needs are deleted, others are kept', async () => {
    const { runtime } = shop.server;
    const { sql } = runtime;
    const secret = Buffer.alloc(32, 1);
    // A was replaced by B long ago, B by C an hour ago. D was replaced long ago, but signed a token that lives for a year.
    await sql`
      insert into identity.signing_keys (kid, secret, created_at, needed_until) values
        ('A', ${secret}, now() - interval '60 days', null),
        ('D', ${secret}, now() - interval '50 days', now() + interval '300 days'),
        ('B', ${secret}, now() - interval '40 days', null),
        ('C', ${secret}, now() - interval '1 hour', null)`;
    await sql`select graphile_worker.add_job('identity.forget_signing_keys')`;
    const { identityModule } = await import('../index.ts');
    const { tasks, close } = await openModules(runtime, [identityModule]);
    const { databaseUrl: url, log, metrics } = runtime;
    await runDueJobs({ url, tasks, concurrency: 1, log, metrics, shutdownMs: 1_000 });
    await close();
    const kids = (await sql<{ kid: string }[]>`select kid from identity.signing_keys`).map((row) => row.kid);
    expect(kids).not.toContain('A');
    for (const kid of ['B', 'C', 'D']) expect(kids).toContain(kid);
    expect(await statusOf(boss)).toEqual(good);
  });

  test('a token with a longer lifetime keeps its key', async () => {
    const token = await shop.server.tokens.issue({ role: 'user', id: 1, perms: [] }, { hours: 24 * 100 });
    const { kid } = await inspectToken(shop.server.runtime, token);
    const [row] = await shop.database.sql<{ left: number }[]>`
      select extract(epoch from needed_until - now())::float as left from identity.signing_keys where kid = ${kid}`;
    expect(row!.left / 86_400).toBeCloseTo(100, 1);
  });

  test('invented key ids cause no database load', async () => {
    const before = await shop.server.runtime.metrics.statements.get();
    const forged = (i: number) => {
      const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: `k${i}` })).toString('base64url');
      return `${head}.e30.x`;
    };
    await Promise.all(Array.from({ length: 100 }, (_, i) => shop.call('GET', profile, { token: forged(i) })));
    const after = await shop.server.runtime.metrics.statements.get();
    expect(after.values[0]!.value - before.values[0]!.value).toBeLessThanOrEqual(6);
  });
});
