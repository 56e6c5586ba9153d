import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, startServer } from '@tradepost/app';
import { createStaff, openTokens } from '@tradepost/identity';
import { loadConfig, openLog, staleAfterMs } from '@tradepost/runtime';
import { call } from '@tradepost/testing/client';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ApiTokens, openApiTokens } from '../../packages/gateway/tokens/api-tokens.ts';

/** A token stays valid after a change of its account for at most `staleAfterMs`, even if the notification is lost. */
const withRedis = redisIsInstalled('tests of tokens while Redis is down');
const boundMs = staleAfterMs + 1_000;
const profile = '/api/auth/profile';
let redis: RedisServer | null = null;
let shop: Shop;
let second: Server;
let data: string;
let boss: string;
beforeAll(async () => {
  redis = withRedis ? await openRedis() : null;
  const store = redis ? { redisUrl: redis.url } : {};
  shop = await openShop(store);
  data = await mkdtemp(join(tmpdir(), 'tradepost-second-'));
  const flags = { databaseUrl: shop.database.url, data, port: 0, seed: 'none', only: 'api', databasePool: 4, ...store };
  second = await startServer({ config: loadConfig({ env: {}, flags }).config, log: openLog({ level: 'silent' }) });
  await createStaff(shop.database.sql, { username: 'boss', password: 'boss-secret' });
  boss = await shop.login('boss', 'boss-secret');
});
afterAll(async () => {
  await second?.stop();
  await shop?.close();
  await redis?.close();
  await rm(data, { recursive: true, force: true });
});

const onSecond = (token: string) => call(second.transport!.url, second.routes, 'GET', profile, { token });
const statusOn = async (url: string, token: string) => {
  const answer = await fetch(url + profile, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
};
let names = 0;
const newName = (kind: string) => {
  names += 1;
  return `${kind}${names}`;
};
/** Creates a member of staff who is logged in. */
async function createStaffMember(): Promise<{ id: number; token: string }> {
  const username = newName('staff');
  const id = await createStaff(shop.database.sql, { username, password: 'staff-secret' });
  return { id, token: await shop.login(username, 'staff-secret') };
}
/** Waits until `read` returns `expected`. Fails after the bound. */
const expectWithinBound = async (read: () => Promise<unknown>, expected: unknown) =>
  vi.waitFor(async () => expect(await read()).toEqual(expected), { timeout: boundMs, interval: 50 });
/** Ends the database sessions that listen for notifications. */
const endListeners = () => shop.database.sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name like 'tradepost:%'`;

describe('a token of a changed account is refused within the bound', () => {
  // Each of these waits for the bound, so they wait together.
  test.concurrent.each([
    ['disabled', 'status = 0'],
    ['given another password', "password_hash = 'x'"],
    ['given another role', 'role_id = (select max(id) from identity.roles)'],
  ])('without a notification: account %s by SQL', async (_change, change) => {
    const { sql } = shop.database;
    await sql`insert into identity.roles (name) values (${newName('role')})`;
    const { id, token } = await createStaffMember();
    expect((await onSecond(token)).status).toBe(200);
    await sql`update identity.staff set ${sql.unsafe(change)} where id = ${id}`;
    await expectWithinBound(async () => [(await onSecond(token)).status, await statusOn(shop.url, token)], [401, 401]);
  });

  test.concurrent('without a notification: a shopper is disabled by SQL, and the API tokens of the shopper are refused too', async () => {
    const { runtime } = second;
    const { id, token } = await shop.shopper();
    const api: ApiTokens = await openApiTokens(runtime);
    const { secret } = await api.create({ user_id: id }, 'test');
    expect((await onSecond(token)).status).toBe(200);
    expect(await api.verify(secret)).toMatchObject({ userId: id });
    await shop.database.sql`update identity.shoppers set status = 0 where id = ${id}`;
    await expectWithinBound(async () => [(await onSecond(token)).status, await api.verify(secret)], [401, 'disabled']);
    // After the account is enabled again, the API token is valid. A session token needs a new login.
    await shop.database.sql`update identity.shoppers set status = 1 where id = ${id}`;
    await expectWithinBound(async () => typeof (await api.verify(secret)), 'object');
    expect((await onSecond(token)).status).toBe(401);
    await api.close();
  });

  test.concurrent('without a notification: a logout and a revoked API token are written by SQL', async () => {
    const { id, token } = await shop.shopper();
    const api = await openApiTokens(second.runtime);
    const { row, secret } = await api.create({ user_id: id }, 'test');
    const { jti } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
    expect((await onSecond(token)).status).toBe(200);
    expect(await api.verify(secret)).toMatchObject({ id: row.id });
    const { sql } = shop.database;
    await sql`insert into identity.revoked_tokens (jti, expires_at) values (${jti}, now() + interval '1 day')`;
    await sql`update gateway.api_tokens set revoked_at = now(), updated_at = clock_timestamp() where id = ${row.id}`;
    await expectWithinBound(async () => [(await onSecond(token)).status, await api.verify(secret)], [401, 'revoked']);
    await api.close();
  });

  test('while the connection for notifications is lost', async () => {
    const { id, token } = await createStaffMember();
    expect((await onSecond(token)).status).toBe(200);
    await endListeners();
    const changed = await shop.call('PUT', `/admin/api/admins/${id}`, { token: boss, body: { status: 0 } });
    expect(changed.code).toBe(0);
    await expectWithinBound(async () => (await onSecond(token)).status, 401);
  });

  test.skipIf(!withRedis)('while Redis is down, and after its restart', async () => {
    await redis!.kill();
    const first = await createStaffMember();
    expect((await onSecond(first.token)).status).toBe(200);
    await shop.call('PUT', `/admin/api/admins/${first.id}`, { token: boss, body: { status: 0 } });
    await expectWithinBound(async () => (await onSecond(first.token)).status, 401);
    await redis!.start();
    const later = await createStaffMember();
    expect((await onSecond(later.token)).status).toBe(200);
    await shop.call('PUT', `/admin/api/admins/${later.id}`, { token: boss, body: { status: 0 } });
    await expectWithinBound(async () => (await onSecond(later.token)).status, 401);
  });

  test('when the account changes between the first read and the subscription of a starting process', async () => {
    const { runtime } = shop.server;
    const { id, token } = await shop.shopper();
    const events = {
      ...runtime.events,
      subscribe: async (...of: Parameters<typeof runtime.events.subscribe>) => {
        await shop.database.sql`update identity.shoppers set status = 0 where id = ${id} and status = 1`;
        return runtime.events.subscribe(...of);
      },
    };
    const starting = await openTokens({ ...runtime, events });
    expect(await starting.verify(token)).toBeNull();
    await starting.close();
  });
});

describe('a process that was paused', () => {
  let server: RunningServer;
  let child: ChildProcess;
  beforeAll(async () => {
    server = await startProcess(['--only', 'api', '--seed', 'none'], { DATABASE_URL: shop.database.url });
    child = server.child;
  });
  afterAll(async () => {
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await server.ended;
  });

  test('refuses the token in its first answer after the pause, without a notification', async () => {
    const { id, token } = await createStaffMember();
    expect(await statusOn(server.url, token)).toBe(200);
    child.kill('SIGSTOP');
    await endListeners();
    expect((await shop.call('PUT', `/admin/api/admins/${id}`, { token: boss, body: { status: 0 } })).code).toBe(0);
    await sleep(boundMs);
    const status = statusOn(server.url, token);
    await sleep(200);
    child.kill('SIGCONT');
    expect(await status).toBe(401);
  });
});
