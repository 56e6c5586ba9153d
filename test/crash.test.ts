import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settings } from '@tradepost/cli';
import { openTokens } from '@tradepost/identity';
import { loadConfig, openLog, openRuntime, startEmbeddedPostgres } from '@tradepost/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { brokenBooks } from './harness/books.ts';
import { type RunningServer, runCommand, startProcess } from './harness/process.ts';

let data: string;
let tokens: string[];
let addresses: number[];
let skus: number[];
const buyers = 64;

/** Runs work on the data folder's database, beside the server or without one. */
async function withDatabase<T>(work: (runtime: Awaited<ReturnType<typeof openRuntime>>) => Promise<T>): Promise<T> {
  const { config } = loadConfig({ env: {}, flags: { data } });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'silent' }) });
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'tradepost-crash-'));
  await chmod(data, 0o755);
  expect((await runCommand(['seed', '--data', data])).code).toBe(0);
  await withDatabase(async (runtime) => {
    const { sql } = runtime;
    const rows = await sql<{ user_id: number; id: number }[]>`
      with buyers as (
        insert into identity.shoppers (username) select 'buyer' || n from generate_series(1, ${buyers}) as n returning id
      )
      insert into identity.addresses (user_id, name, phone, is_default) select id, 'B', '13800000000', true from buyers
      returning user_id, id`;
    const issuer = await openTokens(runtime);
    tokens = await Promise.all(rows.map((row) => issuer.issue({ role: 'user', id: row.user_id, perms: [] })));
    await issuer.close();
    addresses = rows.map((row) => row.id);
    skus = (await sql<{ id: number }[]>`update catalog.product_skus set stock = 100000 returning id`).map(
      (row) => row.id,
    );
  });
});

afterAll(async () => {
  const left = await startEmbeddedPostgres({ directory: join(data, 'postgres') });
  await left.stop();
  await rm(data, { recursive: true, force: true });
});

/** Orders, pays and cancels until the server is gone; answers how many orders were confirmed to the buyer. */
async function shopUntilGone(server: RunningServer, buyer: number): Promise<number> {
  const headers = { authorization: `Bearer ${tokens[buyer]}`, 'content-type': 'application/json' };
  let confirmed = 0;
  for (let round = 0; ; round += 1) {
    const items = [0, 1].map((n) => ({ sku_id: skus[(buyer * 7 + round * 3 + n * 11) % skus.length] }));
    const body = JSON.stringify({ address_id: addresses[buyer], items });
    try {
      const placed = await fetch(`${server.url}/api/v1/orders`, { method: 'POST', headers, body });
      const { data: order, code } = (await placed.json()) as { code: number; data: { id: number } };
      if (code !== 0) throw new Error(`order refused with ${code}`);
      confirmed += 1;
      const verb = round % 3 === 0 ? 'cancel' : 'pay';
      await fetch(`${server.url}/api/v1/orders/${order.id}/${verb}`, { method: 'POST', headers, body: '' });
    } catch (error) {
      if (
        server.child.exitCode !== null ||
        server.child.signalCode !== null ||
        /fetch failed|terminated/.test(String(error))
      )
        return confirmed;
      throw error;
    }
  }
}

test('kill -9 under load loses no confirmed order and leaves none half written; the next start serves', async () => {
  let confirmed = 0;
  for (let round = 0; round < 3; round += 1) {
    const server = await startProcess(['--data', data]);
    const shopping = Promise.all(tokens.map((_, buyer) => shopUntilGone(server, buyer)));
    await new Promise((resolve) => setTimeout(resolve, 700 + round * 300));
    server.child.kill('SIGKILL');
    confirmed += (await shopping).reduce((sum, count) => sum + count, 0);
    await server.ended;
  }
  const server = await startProcess(['--data', data]);
  await withDatabase(async ({ sql }) => {
    const [row] = await sql<{ orders: number }[]>`select count(*)::int as orders from orders.orders`;
    expect(confirmed).toBeGreaterThan(100);
    expect(row!.orders).toBeGreaterThanOrEqual(confirmed);
    expect(await brokenBooks(sql)).toEqual([]);
  });
  const again = await fetch(`${server.url}/api/v1/orders`, { headers: { authorization: `Bearer ${tokens[0]}` } });
  expect(again.status).toBe(200);
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
});

test('a second start on the same data says where the first one is', async () => {
  const first = await startProcess(['--data', data]);
  const second = await runCommand(['start', '--port', '0', '--data', data]);
  expect(second.code).toBe(3);
  expect(second.stderr).toContain(`already running on ${data} (pid ${first.child.pid}, ${first.url})`);
  expect((await fetch(`${first.url}/ready`)).status).toBe(200);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
});

test('SIGTERM lets the orders under way finish', async () => {
  const server = await startProcess(['--data', data]);
  const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ address_id: addresses[0], items: [{ sku_id: skus[0] }] });
  const orders = Array.from({ length: 50 }, () =>
    fetch(`${server.url}/api/v1/orders`, { method: 'POST', headers, body }),
  );
  // The first answer shows that the others have arrived too.
  await orders[0];
  server.child.kill('SIGTERM');
  const answers = await Promise.allSettled(orders);
  expect(await server.ended).toBe(0);
  const answered = answers.filter((answer) => answer.status === 'fulfilled').map((answer) => answer.value.status);
  expect(answered.every((status) => status === 200 || status === 503)).toBe(true);
  await withDatabase(async ({ sql }) => expect(await brokenBooks(sql)).toEqual([]));
});
