import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { externalSettings, ledgerDifferences, warehouseAccount } from '@tradepost/testing/external-shop';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { commandEnvironment, startProcess } from '@tradepost/testing/processes/process';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const script = join(import.meta.dirname, '../../../daemons/wms-retry.ts');
const children = new Set<ChildProcess>();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const close of closers.splice(0).reverse()) await close();
});

type Daemon = { child: ChildProcess; output(): string; ended: Promise<number | null> };

/** Starts daemons/wms-retry.ts as a process. */
function startDaemon(args: readonly string[], env: Record<string, string> = {}): Daemon {
  const child = spawn(process.execPath, [script, ...args], {
    env: commandEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  void ended.then(() => children.delete(child));
  return { child, output: () => output, ended };
}

async function until(what: string, holds: () => Promise<boolean> | boolean, seconds = 90): Promise<void> {
  for (const end = performance.now() + seconds * 1000; ; ) {
    if (await holds()) return;
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(20);
  }
}
const ready = async (daemon: Daemon) => {
  const ended = daemon.ended.then((code) => {
    throw new Error(`ended with ${code}: ${daemon.output()}`);
  });
  ended.catch(() => {});
  await Promise.race([ended, until('ready', () => daemon.output().includes('Delivering to'))]);
  return daemon;
};

describe('on an external database', { timeout: 120_000 }, () => {
  let simulator: Simulator;
  let shop: Shop;
  let sku: number;
  let buyer: { token: string; address_id: number };

  beforeEach(async () => {
    simulator = await openSimulator(warehouseAccount);
    closers.push(() => simulator.close());
    shop = await openShop({ only: 'api' }, externalSettings(simulator.url, 'async'));
    closers.push(() => shop.close());
    buyer = await shop.shopper();
    sku = (await insertProduct(shop.database, { stocks: [1000] })).sku_ids[0]!;
  });

  const daemon = (args: readonly string[] = [], env: Record<string, string> = {}) =>
    startDaemon(args, { DATABASE_URL: shop.database.url, ...env });
  /** Runs the same command in this process, which is faster than a new one. */
  const deliver = (...args: string[]) =>
    runCommandInProcess(['wms', 'deliver', ...args, '--database-url', shop.database.url]);
  async function order(): Promise<string> {
    const body = { address_id: buyer.address_id, items: [{ sku_id: sku }] };
    const { data } = await shop.call('POST', '/api/v1/orders', { token: buyer.token, body });
    return `order:${data.order_no}:reserve`;
  }
  const orders = (count: number) => Promise.all(Array.from({ length: count }, order));
  const tasks = async () => {
    const rows = await shop.database.sql<{ status: string; n: number; attempts: number }[]>`
      select status, count(*)::int as n, max(attempt_count) as attempts
      from inventory.inventory_integration_tasks group by status`;
    return Object.fromEntries(rows.map((row) => [row.status, row.n])) as Record<string, number>;
  };
  const succeeded = (count: number) => until(`${count} succeeded`, async () => (await tasks()).success === count);
  const lockedJobs = async () => {
    const [row] = await shop.database.sql<{ n: number }[]>`
      select count(*)::int as n from graphile_worker.jobs where locked_at is not null`;
    return row!.n;
  };
  const expectLedgersAgree = async () => expect(await ledgerDifferences(shop.database.sql, simulator)).toEqual([]);

  test('delivers tasks that were due before and new ones; SIGTERM during calls ends it with 0, and no task stays locked', async () => {
    const before = await orders(3);
    // Old tasks have no job any more.
    await shop.database.sql`delete from graphile_worker._private_jobs`;
    const running = await ready(daemon(['--admin-port', '0'], { WORKER_CONCURRENCY: '1' }));
    await until('an admin listener', () => /^Admin /m.test(running.output()));
    const admin = /^Admin (\S+)\/ready$/m.exec(running.output())![1];
    const state = (await (await fetch(`${admin}/ready`)).json()) as { parts: { name: string; ok: boolean }[] };
    expect(state.parts.map(({ name, ok }) => [name, ok])).toContainEqual(['worker', true]);
    expect(await (await fetch(`${admin}/metrics`)).text()).toContain('external_wms_calls_total');
    await succeeded(3);
    await order();
    await succeeded(4);
    simulator.change({ delayMs: 1_000 });
    await orders(80);
    await until('calls run', async () => ((await tasks()).processing ?? 0) > 0);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(running.output()).toMatch(/delivered {2}\d+ calls: \d+ succeeded, 0 accepted, 0 to be retried, 0 failed/);
    const after = await tasks();
    expect(after.processing).toBeUndefined();
    // After the signal it claims no tasks, although there is time to deliver all.
    expect(after.pending).toBeGreaterThan(0);
    expect(await lockedJobs()).toBe(0);
    for (const request of before) expect(simulator.seen(request)).toBe(1);
    simulator.change({ delayMs: 0 });
    expect((await deliver('--once')).code).toBe(0);
    await succeeded(84);
    await expectLedgersAgree();
  });

  test('a warehouse that hangs does not delay the end: its calls are aborted and their tasks are released', async () => {
    await shop.server.runtime.settings.set('external_wms.timeout_ms', 60_000);
    simulator.change({ hangRate: 1, failAfter: 1 });
    const request = await order();
    const running = await ready(daemon([], { SHUTDOWN_SECONDS: '2' }));
    await until('called', () => simulator.seen(request) === 1);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(await tasks()).toEqual({ pending: 1 });
    expect(await lockedJobs()).toBe(0);
    simulator.change({ hangRate: 0 });
    expect((await deliver('--once')).code).toBe(0);
    expect(simulator.seen(request)).toBe(2);
    await expectLedgersAgree();
  });

  test('--once delivers and exits: 0, 1 when a task has failed, 2 when settings are missing', async () => {
    await orders(3);
    const first = await deliver('--once', '--json');
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      delivered: 3,
      succeeded: 3,
      failed: 0,
      open: 0,
      next_due: null,
    });
    await expectLedgersAgree();
    await simulator.setStock(sku, 0);
    await order();
    const second = daemon(['--once']);
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain('tradepost wms tasks list --failed');
    await shop.server.runtime.settings.set('external_wms.endpoint', '');
    const third = await deliver();
    expect(third.code).toBe(2);
    expect(third.stderr).toContain('external_wms.endpoint');
  });

  test('after kill -9 during a call another process delivers the task with the same key, although a job stays locked', async () => {
    simulator.change({ hangRate: 1, failAfter: 1 });
    const request = await order();
    const killed = await ready(daemon());
    await until('accepted', () => simulator.ledger().skus.some((row) => row.reserved === 1));
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(await tasks()).toEqual({ processing: 1 });
    expect(await lockedJobs()).toBeGreaterThan(0);
    // Workers notice within ten seconds that a registered one has ended, and unlock its jobs. This one is not registered.
    await shop.database.sql`
      update graphile_worker._private_jobs set locked_by = 'a worker of before' where locked_at is not null`;
    simulator.change({ hangRate: 0 });
    const other = await ready(daemon());
    // New tasks are delivered at once, while the job of the killed process stays locked.
    for (let n = 1; n <= 10; n += 1) {
      await order();
      await succeeded(n);
    }
    // The lock of the task expires. Only the scheduled poll finds the task.
    await shop.database.sql`
      update inventory.inventory_integration_tasks set next_retry_at = now(), lock_expires_at = now() where status = 'processing'`;
    await succeeded(11);
    expect(simulator.seen(request)).toBe(2);
    expect(await lockedJobs()).toBeGreaterThan(0);
    other.child.kill('SIGTERM');
    expect(await other.ended).toBe(0);
    await expectLedgersAgree();
  });

  test('continues after the database has closed its connections', async () => {
    const running = await ready(daemon());
    await order();
    await succeeded(1);
    await shop.database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name <> 'test' and pid <> pg_backend_pid()`;
    await until('the shop is back', async () => (await order().catch(() => '')) !== '');
    await until(
      'delivered',
      async () => (await tasks()).pending === undefined && (await tasks()).processing === undefined,
    );
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    await expectLedgersAgree();
  });

  test('several processes deliver each task once', async () => {
    const requests = await orders(30);
    simulator.change({ delayMs: 20 });
    const workers = [daemon(['--once']), daemon(['--once']), await ready(daemon())];
    await succeeded(30);
    workers[2]!.child.kill('SIGTERM');
    for (const worker of workers) expect(await worker.ended).toBe(0);
    for (const request of requests) expect([request, simulator.seen(request)]).toEqual([request, 1]);
    await expectLedgersAgree();
  });

  test('a signal during calls ends --once early, and their tasks are released', async () => {
    await shop.server.runtime.settings.set('external_wms.timeout_ms', 60_000);
    await orders(2);
    simulator.change({ hangRate: 1 });
    const running = daemon(['--once'], { SHUTDOWN_SECONDS: '2' });
    await until('called', () => simulator.counters().calls > 0);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(0);
    expect(running.output()).toContain('stopped before all');
    expect(await tasks()).toEqual({ pending: 2 });
  });
});

test('beside a running shop with the embedded database', async () => {
  const simulator = await openSimulator(warehouseAccount);
  closers.push(() => simulator.close());
  const data = await mkdtemp(join(tmpdir(), 'tradepost-retry-'));
  // With root, the user of the database server must be able to enter the folder; else the cluster would be created elsewhere.
  await chmod(data, 0o755);
  closers.push(() => rm(data, { recursive: true, force: true }));
  const config = join(data, 'config.json');
  await writeFile(config, JSON.stringify({ settings: externalSettings(simulator.url, 'async') }), { mode: 0o600 });
  const args = ['--data', data, '--config', config];
  const server = await startProcess([...args, '--only', 'api']);
  children.add(server.child);
  const call = async (method: string, path: string, body?: object, token?: string) => {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const response = await fetch(server.url + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
    return ((await response.json()) as { data: any }).data;
  };
  const { token } = await call('POST', '/api/auth/login', { username: 'demo', password: 'demo123456' });
  const [address] = await call('GET', '/api/v1/addresses', undefined, token);
  const { list } = await call('GET', '/api/v1/products?size=1');
  const product = await call('GET', `/api/v1/products/${list[0].id}`);
  const running = await ready(startDaemon(args));
  const items = [{ sku_id: product.skus[0].id }];
  const { id } = await call('POST', '/api/v1/orders', { address_id: address.id, items }, token);
  await until(
    'reserved',
    async () => (await call('GET', `/api/v1/orders/${id}`, undefined, token)).inventory_status === 'reserved',
  );
  // The shop ends first. Its database keeps running for the daemon, and stops when the daemon ends.
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
  expect(running.output()).toContain('no task is open');
}, 120_000);
