import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CarrierSimulator, openCarrierSimulator } from '@tradepost/carrier-simulator';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CarrierShop, carrierSettings, openCarrierShop } from '../../testing/carrier-shop.ts';

const script = join(import.meta.dirname, '../../../../daemons/carrier-sync.ts');
const children = new Set<ChildProcess>();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const close of closers.splice(0).reverse()) await close();
});

type Daemon = { child: ChildProcess; output(): string; ended: Promise<number | null> };

function startDaemon(args: readonly string[], env: Record<string, string>): Daemon {
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

describe('tradepost shipments sync', { timeout: 240_000 }, () => {
  let simulator: CarrierSimulator;
  let shop: Shop;
  let of: CarrierShop;
  beforeEach(async () => {
    simulator = await openCarrierSimulator();
    closers.push(() => simulator.close());
    shop = await openShop({ only: 'api' }, carrierSettings(simulator, { 'logistics_router.polling_enabled': true }));
    closers.push(() => shop.close());
    of = await openCarrierShop(shop);
  });

  const daemon = (args: readonly string[] = [], env: Record<string, string> = {}) =>
    startDaemon(args, { DATABASE_URL: shop.database.url, ...env });
  /** Runs `--once` in this process, which is faster than a new one. */
  const once = async () => {
    const args = ['shipments', 'sync', '--once', '--json', '--database-url', shop.database.url];
    const { code, stdout } = await runCommandInProcess(args);
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };
  const states = async () => {
    const [row] = await shop.database.sql<{ queried: number; claimed: number; found: number }[]>`
      select count(*) filter (where last_query_at is not null)::int as queried,
        count(*) filter (where last_sync_ok_at is not null)::int as found,
        count(*) filter (where claimed_until is not null)::int as claimed from fulfilment.shipments`;
    return row!;
  };
  const expectQueriedOnce = (numbers: readonly string[]) =>
    expect(numbers.filter((no) => simulator.seen(no) !== 1).map((no) => [no, simulator.seen(no)])).toEqual([]);

  test('in several processes queries each shipment once', async () => {
    simulator.change({ latencyMs: 200 });
    const numbers = await of.insertShipments(300, 'ZA');
    const running = [daemon(), daemon()];
    await until('all are queried', async () => (await states()).found === 300);
    for (const { child } of running) child.kill('SIGTERM');
    for (const { ended } of running) expect(await ended).toBe(0);
    expectQueriedOnce(numbers);
    const counted = running.map(({ output }) => Number(/(\d+) shipments? queried/.exec(output())?.[1]));
    expect(counted[0]! + counted[1]!).toBe(300);
    expect(await states()).toEqual({ queried: 300, found: 300, claimed: 0 });
    const [tracks] = await shop.database.sql`select count(*)::int as n from fulfilment.shipment_tracks`;
    expect(tracks).toEqual({ n: 900 });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('killed in the middle leaves claims that end by themselves, and the next process goes on', async () => {
    simulator.change({ latencyMs: 2_000 });
    const numbers = await of.insertShipments(30, 'ZK');
    const killed = daemon();
    await until('queries run', () => Object.keys(simulator.counters().seen).length >= 8);
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect((await states()).claimed).toBe(30);
    simulator.change({ latencyMs: 0 });
    // While the claims last, no other process queries these shipments.
    expect(await once()).toMatchObject({ queried: 0 });
    const [claim] = await shop.database.sql<{ longest: number }[]>`
      select extract(epoch from max(claimed_until) - now())::int as longest from fulfilment.shipments`;
    expect(claim!.longest).toBeLessThanOrEqual(120);
    await shop.database.sql`
      update fulfilment.shipments set claimed_until = now(), next_query_at = now() where claimed_until is not null`;
    expect(await once()).toMatchObject({ found: 30 });
    expect(await states()).toEqual({ queried: 30, found: 30, claimed: 0 });
    for (const no of numbers) expect(simulator.seen(no)).toBeLessThanOrEqual(2);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('on SIGTERM finishes the running queries and releases the others', async () => {
    simulator.change({ latencyMs: 300 });
    await of.insertShipments(90, 'ZT');
    const running = daemon(['--admin-port', '0']);
    await until('queries run', async () => (await states()).found > 0);
    const admin = /^Admin (\S+)\/ready$/m.exec(running.output())![1];
    expect((await fetch(`${admin}/ready`)).status).toBe(200);
    expect(await (await fetch(`${admin}/metrics`)).text()).toContain('carrier_queries_total');
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    const { found, claimed } = await states();
    expect(found).toBeLessThan(90);
    expect(claimed).toBe(0);
    expect(running.output()).toContain(`${found} shipments queried: ${found} found, 0 failed`);
    expect(Object.values(simulator.counters().queries).reduce((a, b) => a + b)).toBe(found);
    simulator.change({ latencyMs: 0 });
    await once();
    expect(await states()).toEqual({ queried: 90, found: 90, claimed: 0 });
  });

  test('with a service that hangs goes on with the other one, and a stopped process does not wait for it', async () => {
    await shop.server.runtime.settings.set('logistics_router.timeout_ms', 2_000);
    simulator.change({ timeoutRate: 1, faultsOf: ['kuaidi100'] });
    await of.insertShipments(60, 'ZH');
    expect(await once()).toMatchObject({ found: 60, failed: 0 });
    const rows = await shop.database.sql`select distinct channel_provider from fulfilment.shipments`;
    expect([...rows]).toEqual([{ channel_provider: 'kdniao' }]);
    // The circuit of the hanging service opens: most shipments do not wait for it.
    expect(simulator.counters().faults.timeout).toBeLessThan(30);
    await shop.server.runtime.settings.set('logistics_router.timeout_ms', 30_000);
    simulator.change({ timeoutRate: 1, faultsOf: ['kuaidi100', 'kdniao'] });
    await of.insertShipments(10, 'ZI');
    const hanging = daemon([], { SHUTDOWN_SECONDS: '2' });
    await until('a query hangs', () => Object.keys(simulator.counters().seen).some((no) => no.startsWith('ZI')));
    hanging.child.kill('SIGTERM');
    expect(await hanging.ended).toBe(0);
    expect((await states()).claimed).toBe(0);
  });

  test('with polling off says so: --once ends, and the daemon waits until it is on', async () => {
    await shop.server.runtime.settings.set('logistics_router.polling_enabled', false);
    await of.insertShipments(3, 'ZO');
    expect(await once()).toMatchObject({ queried: 0, idle: expect.stringContaining('polling is off') });
    const running = daemon();
    await until('idle', () => running.output().includes('polling is off'));
    expect(await states()).toMatchObject({ queried: 0 });
    await shop.server.runtime.settings.set('logistics_router.polling_enabled', true);
    await until('polled', async () => (await states()).found === 3);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  });

  test('queries what is on its way: failed ones later, signed, local and foreign ones not', async () => {
    const [signed, local, foreign, failing] = await of.insertShipments(4, 'ZW');
    const { sql } = shop.database;
    await sql`update fulfilment.shipments set logistics_status = 'signed', signed_at = now() where tracking_no = ${signed!}`;
    await sql`update fulfilment.shipments set delivery_type = 'local' where tracking_no = ${local!}`;
    await sql`update fulfilment.shipments set company = 'HAWK' where tracking_no = ${foreign!}`;
    simulator.change({ refuseRate: 1 });
    for (const failed of [1, 0]) expect(await once()).toMatchObject({ found: 0, failed });
    for (const no of [signed!, local!, foreign!]) expect(simulator.seen(no)).toBe(0);
    // Both services were asked once. The second run came before the next query was due.
    expect(simulator.seen(failing!)).toBe(2);
    const next = async () => {
      const [row] = await sql<{ seconds: number; sync_fail_count: number }[]>`
        select extract(epoch from next_query_at - last_query_at)::int as seconds, sync_fail_count
        from fulfilment.shipments where tracking_no = ${failing!}`;
      return row;
    };
    expect(await next()).toEqual({ seconds: 600, sync_fail_count: 1 });
    await sql`update fulfilment.shipments set next_query_at = now() where tracking_no = ${failing!}`;
    await once();
    expect(await next()).toEqual({ seconds: 1_200, sync_fail_count: 2 });
  });

  test('a shipment by its id, and its events', async () => {
    const parcel = await of.ship({ company: 'SF', tracking_no: 'SF1000000000001' });
    const { order_id, shipment_id } = parcel;
    const [order] = await shop.database.sql<{ order_no: string }[]>`
      select order_no from orders.orders where id = ${order_id}`;
    const run = (...args: string[]) => runCommandInProcess(['shipments', ...args, '--database-url', shop.database.url]);
    expect(await run('tracks', order!.order_no)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no events'),
    });
    expect(await run('sync', '--shipment', String(shipment_id))).toMatchObject({
      code: 0,
      stdout: 'synced  SF SF1000000000001: in_transit, 1 events of kuaidi100\n',
    });
    const listed = await run('tracks', '--shipment', String(shipment_id), '--json');
    const { data } = await of.tracks(parcel);
    expect(JSON.parse(listed.stdout).shipments).toEqual([expect.objectContaining({ id: shipment_id, tracks: data })]);
    expect((await run('tracks', order!.order_no)).stdout).toContain('2024-03-01T18:20:11+08:00');
    simulator.change({ refuseRate: 1 });
    expect(await run('sync', '--shipment', String(shipment_id))).toMatchObject({ code: 1 });
    expect((await run('tracks', order!.order_no)).stdout).toMatch(/^last query \S+ failed, 1 in a row: kuaidi100: ./m);
    expect((await run('sync', '--shipment', '999999')).stderr).toContain('there is no shipment 999999');
    expect((await run('tracks', 'N0')).stderr).toContain('there is no order N0');
    expect((await run('tracks')).code).toBe(2);
  });

  test('without an account for a service ends with exit code 2 and the settings', async () => {
    for (const key of ['logistics_kuaidi100.key', 'logistics_kdniao.api_key'])
      await shop.server.runtime.settings.unset(key);
    const { code, stderr } = await runCommandInProcess([
      'shipments',
      'sync',
      '--once',
      '--database-url',
      shop.database.url,
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('logistics_kuaidi100.key');
    expect(stderr).toContain('logistics_kdniao.api_key');
  });
});
