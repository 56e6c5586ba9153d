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

/** How long a token can outlive the end of its account where the message of it is lost: the stated bound, and no longer. */
const withRedis = redisIsInstalled('tokens without Redis');
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
}, 60_000);
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
async function clerk(): Promise<{ id: number; token: string }> {
  const username = newName('clerk');
  const id = await createStaff(shop.database.sql, { username, password: 'staff-secret' });
  return { id, token: await shop.login(username, 'staff-secret') };
}
const endsWithinBound = async (ask: () => Promise<unknown>, ended: unknown) =>
  vi.waitFor(async () => expect(await ask()).toEqual(ended), { timeout: boundMs, interval: 50 });
/** The sessions that listen for messages. */
const cutListeners = () => shop.database.sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name like 'tradepost:%'`;

describe('a token whose account has ended is none within the bound', () => {
  test.each([
    ['disabled', 'status = 0'],
    ['given another password', "password_hash = 'x'"],
    ['given another role', 'role_id = (select max(id) from identity.roles)'],
  ])('although no message was sent: %s by SQL', async (_what, change) => {
    const { sql } = shop.database;
    await sql`insert into identity.roles (name) values (${newName('role')})`;
    const { id, token } = await clerk();
    expect((await onSecond(token)).status).toBe(200);
    await sql`update identity.staff set ${sql.unsafe(change)} where id = ${id}`;
    await endsWithinBound(async () => [(await onSecond(token)).status, await statusOn(shop.url, token)], [401, 401]);
  });

  test('a shopper disabled by SQL, and the API tokens of that shopper', async () => {
    const { runtime } = second;
    const { id, token } = await shop.shopper();
    const api: ApiTokens = await openApiTokens(runtime);
    const { secret } = await api.create({ user_id: id }, 'test');
    expect((await onSecond(token)).status).toBe(200);
    expect(await api.verify(secret)).toMatchObject({ userId: id });
    await shop.database.sql`update identity.shoppers set status = 0 where id = ${id}`;
    await endsWithinBound(async () => [(await onSecond(token)).status, await api.verify(secret)], [401, 'disabled']);
    // Enabled again the API token opens again; a login is needed for another token.
    await shop.database.sql`update identity.shoppers set status = 1 where id = ${id}`;
    await endsWithinBound(async () => typeof (await api.verify(secret)), 'object');
    expect((await onSecond(token)).status).toBe(401);
    await api.close();
  });

  test('a logout and a revoked API token written without a message', async () => {
    const { id, token } = await shop.shopper();
    const api = await openApiTokens(second.runtime);
    const { row, secret } = await api.create({ user_id: id }, 'test');
    const { jti } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
    expect((await onSecond(token)).status).toBe(200);
    expect(await api.verify(secret)).toMatchObject({ id: row.id });
    const { sql } = shop.database;
    await sql`insert into identity.revoked_tokens (jti, expires_at) values (${jti}, now() + interval '1 day')`;
    await sql`update gateway.api_tokens set revoked_at = now(), updated_at = clock_timestamp() where id = ${row.id}`;
    await endsWithinBound(async () => [(await onSecond(token)).status, await api.verify(secret)], [401, 'revoked']);
    await api.close();
  });

  test('while the connection that brings messages is lost', async () => {
    const { id, token } = await clerk();
    expect((await onSecond(token)).status).toBe(200);
    await cutListeners();
    const changed = await shop.call('PUT', `/admin/api/admins/${id}`, { token: boss, body: { status: 0 } });
    expect(changed.code).toBe(0);
    await endsWithinBound(async () => (await onSecond(token)).status, 401);
  });

  test.skipIf(!withRedis)('while Redis is down, and after it was started again', async () => {
    await redis!.kill();
    const down = await clerk();
    expect((await onSecond(down.token)).status).toBe(200);
    await shop.call('PUT', `/admin/api/admins/${down.id}`, { token: boss, body: { status: 0 } });
    await endsWithinBound(async () => (await onSecond(down.token)).status, 401);
    await redis!.start();
    const up = await clerk();
    expect((await onSecond(up.token)).status).toBe(200);
    await shop.call('PUT', `/admin/api/admins/${up.id}`, { token: boss, body: { status: 0 } });
    await endsWithinBound(async () => (await onSecond(up.token)).status, 401);
  });

  test('changed between the first reading and the subscription of a process that starts', async () => {
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

describe('a process that stood still', () => {
  let server: RunningServer;
  let child: ChildProcess;
  beforeAll(async () => {
    server = await startProcess(['--only', 'api', '--seed', 'none'], { DATABASE_URL: shop.database.url });
    child = server.child;
  }, 60_000);
  afterAll(async () => {
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await server.ended;
  });

  test('says no with its first answer after the pause, though the message of the end never came', async () => {
    const { id, token } = await clerk();
    expect(await statusOn(server.url, token)).toBe(200);
    child.kill('SIGSTOP');
    await cutListeners();
    expect((await shop.call('PUT', `/admin/api/admins/${id}`, { token: boss, body: { status: 0 } })).code).toBe(0);
    await sleep(boundMs);
    const asked = statusOn(server.url, token);
    await sleep(200);
    child.kill('SIGCONT');
    expect(await asked).toBe(401);
  }, 30_000);
});
