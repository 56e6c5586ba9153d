import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@tradepost/client';
import { readMigrations } from '@tradepost/postgres';
import { type RunningServer, runCommand, startProcess, startScript } from '@tradepost/testing/processes/process';
import { type UnpackedRelease, unpackRelease, whyNoCommit } from '@tradepost/testing/processes/release';
import { createEmptyDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, expect, test } from 'vitest';
import { readReleases } from '../architecture/releases.ts';

const newest = (await readMigrations()).at(-1)!.id;
/** The newest release with an older schema. Until the first migration after a release it is not that release but the one before. */
const before = readReleases().find(({ migration }) => migration < newest);
const reason = await whyNoCommit(before!.commit);
if (reason) process.stderr.write(`upgrade.test.ts is skipped: ${reason}. It needs the history of the repository.\n`);

const workerReady = /Worker +running/;
const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function stop({ child, ended }: RunningServer): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}

type Shopper = { client: Client; address_id: number };

async function logIn(url: string, username: string): Promise<Shopper> {
  const visitor = createClient({ url, lang: 'en' });
  const { token } = await visitor.post('/api/auth/login', { body: { username, password: 'demo123456' } });
  const client = visitor.with({ token });
  const [address] = await client.get('/api/v1/addresses');
  return { client, address_id: address!.id };
}

const staffOf = async (url: string): Promise<Client> => {
  const visitor = createClient({ url, lang: 'en' });
  const { token } = await visitor.post('/admin/api/auth/login', { body: { username: 'admin', password: 'admin123' } });
  return visitor.with({ token });
};

/** Places orders until it is stopped. Every request is answered at the first try. Returns the ids of the orders. */
function startLoad({ client, address_id }: Shopper, skus: readonly number[]) {
  const placed: number[] = [];
  let isEnding = false;
  const loop = async () => {
    for (let round = 0; !isEnding; round += 1) {
      const items = [{ sku_id: skus[round % skus.length]! }];
      const order = await client.post('/api/v1/orders', { body: { address_id, items }, idempotencyKey: randomUUID() });
      placed.push(order.id);
      await client.post(`/api/v1/orders/{id}/${round % 3 === 0 ? 'pay' : 'cancel'}`, { path: { id: order.id } });
      await sleep(25);
    }
  };
  const ended = loop();
  ended.catch(() => {});
  return {
    placed,
    async end() {
      isEnding = true;
      await ended;
      return placed;
    },
  };
}

/** A shopper browses, fills the cart, orders, pays and cancels, and staff ship. Returns the ids of the orders. */
async function journey(url: string, username: string, skus: readonly number[]): Promise<number[]> {
  const { client, address_id } = await logIn(url, username);
  const staff = await staffOf(url);
  const found = await client.get('/api/v1/products', { query: { keyword: 'mug' } });
  expect(found.total).toBeGreaterThan(0);
  expect(await client.get('/api/v1/products/{id}', { path: { id: found.list[0]!.id } })).toHaveProperty('skus');
  const [first, second] = skus;
  for (const sku_id of [first!, second!]) await client.post('/api/v1/cart/add', { body: { sku_id, qty: 1 } });
  expect((await client.get('/api/v1/cart')).length).toBeGreaterThanOrEqual(2);
  const key = randomUUID();
  const place = () =>
    client.post('/api/v1/orders', { body: { address_id, sku_ids: [first!, second!] }, idempotencyKey: key });
  const bought = await place();
  expect((await place()).id).toBe(bought.id);
  const mine = { path: { id: bought.id } };
  await client.post('/api/v1/orders/{id}/pay', mine);
  await staff.put('/admin/api/orders/{id}/ship', {
    ...mine,
    body: { ship_type: 'initial', company: 'SF', tracking_no: `SF${bought.id}` },
  });
  expect(await client.get('/api/v1/orders/{id}', mine)).toMatchObject({ status: 3, tracking_no: `SF${bought.id}` });
  const cancelled = await client.post('/api/v1/orders', { body: { address_id, items: [{ sku_id: first! }] } });
  await client.post('/api/v1/orders/{id}/cancel', { path: { id: cancelled.id } });
  expect(await client.get('/api/v1/orders/{id}', { path: { id: cancelled.id } })).toMatchObject({ status: 6 });
  return [bought.id, cancelled.id];
}

/** Each process continues what the other one has begun. Returns the ids of the orders. */
async function across(from: string, to: string, sku_id: number): Promise<number[]> {
  const [{ client, address_id }, other, staff] = await Promise.all([
    logIn(from, 'demo2'),
    logIn(to, 'demo2'),
    staffOf(to),
  ]);
  const place = async () => (await client.post('/api/v1/orders', { body: { address_id, items: [{ sku_id }] } })).id;
  const [cancelled, repriced] = [await place(), await place()];
  await other.client.post('/api/v1/orders/{id}/cancel', { path: { id: cancelled } });
  // The release before does not know the parts of a discount.
  for (const value of [-10, -20]) {
    const adjustment = { type: 'percent' as const, value };
    const body = { ids: [repriced], adjustment, remark: 'upgrade' };
    expect(await staff.post('/admin/api/orders/batch/repricing', { body })).toMatchObject({ success_ids: [repriced] });
  }
  await client.post('/api/v1/orders/{id}/pay', { path: { id: repriced } });
  expect(await other.client.get('/api/v1/orders/{id}', { path: { id: repriced } })).toMatchObject({ status: 2 });
  return [cancelled, repriced];
}

async function startOld(release: UnpackedRelease, database: TestDatabase, folder: string) {
  const env = { DATABASE_URL: database.url, TRADEPOST_DATA: join(folder, 'old') };
  const start = (args: string[], ready?: RegExp) =>
    startScript([release.script, 'start', '--port', '0', '--gateway-port', '0', '--plain', ...args], env, ready);
  const api = await start(['--only', 'api', '--seed', 'demo']);
  cleanUps.push(() => stop(api));
  const worker = await start(['--only', 'worker', '--seed', 'none'], workerReady);
  cleanUps.push(() => stop(worker));
  return { api, worker };
}

async function startNew(env: Record<string, string>) {
  const start = async (args: string[], ready?: RegExp) => {
    const server = await startProcess(args, env, ready);
    cleanUps.push(() => stop(server));
    return server;
  };
  const [worker, api] = await Promise.all([start(['--only', 'worker'], workerReady), start(['--only', 'api'])]);
  return { api, worker };
}

test.skipIf(reason !== null)(
  `processes of ${before!.version} serve before, during and after the migration, beside those of this release`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradepost-upgrade-'));
    cleanUps.push(() => rm(folder, { recursive: true, force: true }));
    const database = await createEmptyDatabase();
    cleanUps.push(() => database.drop());
    const release = await unpackRelease(before!.commit);
    cleanUps.push(release.remove);
    const old = await startOld(release, database, folder);
    const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from runtime.migrations`;
    expect(row!.n).toBe(before!.migration);
    const skus = await database.sql<{ id: number }[]>`
      select id from catalog.product_skus where status = 'active' and stock - reserved_stock >= 5 order by id limit 60`;
    const ids = skus.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(10);

    const load = startLoad(await logIn(old.api.url, 'demo'), ids);
    await sleep(500);
    const env = { DATABASE_URL: database.url, TRADEPOST_DATA: join(folder, 'new') };
    const migrated = await runCommand(['migrate', '--json'], { env });
    expect(migrated).toMatchObject({ code: 0 });
    expect(JSON.parse(migrated.stdout).applied[0]).toMatch(`${before!.migration + 1}_`);
    const during = load.placed.length;
    const now = await startNew(env);
    const orders = [
      ...(await journey(old.api.url, 'demo2', ids.slice(-2))),
      ...(await journey(now.api.url, 'demo2', ids.slice(-2))),
      ...(await across(old.api.url, now.api.url, ids[0]!)),
      ...(await across(now.api.url, old.api.url, ids[1]!)),
      ...(await load.end()),
    ];
    expect(during).toBeGreaterThan(0);
    expect(load.placed.length).toBeGreaterThan(during);
    await Promise.all([old.api, old.worker].map(stop));
    expect(new Set(orders).size).toBe(orders.length);
    const [count] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from orders.orders where id > all(array(select order_id from orders.imported_orders))
        and created_at >= (select min(created_at) from orders.orders where id = any(${orders}::bigint[]))`;
    expect(count!.n).toBe(orders.length);
    await Promise.all([now.api, now.worker].map(stop));
    const audit = await runCommand(['audit', '--json'], { env });
    expect([audit.code, audit.code === 0 ? '' : audit.stdout]).toEqual([0, '']);
  },
  600_000,
);
