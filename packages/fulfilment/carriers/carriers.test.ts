import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CarrierSimulator, openCarrierSimulator } from '@tradepost/carrier-simulator';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements } from '@tradepost/testing/statements';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CarrierShop, carrierSettings, openCarrierShop } from '../testing/carrier-shop.ts';
import { kdniao } from './drivers/kdniao.ts';
import { kuaidi100 } from './drivers/kuaidi100.ts';
import { openSyncDeps } from './sync/sync-deps.ts';
import { openSyncStarter, syncJobs } from './sync/sync-jobs.ts';

let simulator: CarrierSimulator;
let shop: Shop;
let of: CarrierShop;
beforeAll(async () => {
  simulator = await openCarrierSimulator();
  shop = await openShop(
    { only: 'api' },
    carrierSettings(simulator, {
      'logistics_router.timeout_ms': 300,
      'delivery_router.delivery_mode': 'both',
    }),
  );
  of = await openCarrierShop(shop);
});
afterAll(async () => {
  await shop?.close();
  await simulator?.close();
});

const noFaults = { timeoutRate: 0, garbageRate: 0, errorRate: 0, refuseRate: 0, regressRate: 0 };
afterEach(async () => {
  simulator.change({ ...noFaults, faultsOf: ['kuaidi100', 'kdniao'] });
  const { settings } = shop.server.runtime;
  for (const key of [
    'enabled',
    'concurrency',
    'polling_enabled',
    'primary_driver',
    'secondary_driver',
    'provider_a',
    'provider_b',
  ])
    await settings.unset(`logistics_router.${key}`);
  // In every test: what was written keeps the invariants.
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
const set = (name: string, value: unknown) => shop.server.runtime.settings.set(`logistics_router.${name}`, value);
let numbers = 0;
const newNumber = (prefix: string) => {
  numbers += 1;
  return `${prefix}9${numbers}`;
};
const queries = () => ({ ...simulator.counters().queries });

describe('a sync', () => {
  test('follows a shipment to its signature: state, events and channel', async () => {
    const parcel = await of.ship({ company: 'sf', tracking_no: 'SF1000000000001' });
    const states: unknown[] = [];
    for (let n = 0; n < 5; n += 1) {
      expect(await of.sync(parcel)).toMatchObject({ code: 0, data: null });
      const { logistics_status } = await of.shipmentOf(parcel);
      states.push([logistics_status, (await of.tracks(parcel)).data.length]);
    }
    expect(states).toEqual([
      ['in_transit', 1],
      ['in_transit', 3],
      ['in_transit', 4],
      ['signed', 5],
      ['signed', 5],
    ]);
    const shipment = await of.shipmentOf(parcel);
    expect(shipment).toMatchObject({
      ...{ channel_provider: 'kuaidi100', signed_at: '2024-03-02T11:38:57+08:00', sync_fail_count: 0 },
      logistics_status_label: 'Delivered',
    });
    expect(Date.parse(shipment.last_sync_ok_at)).toBeGreaterThan(Date.now() - 60_000);
    expect(shipment.last_query_at).toBe(shipment.last_sync_ok_at);
    expect((await of.shipmentOf(parcel, 'zh-CN')).logistics_status_label).toBe('已签收');
    const logs = await of.logs(parcel.shipment_id);
    expect(logs).toHaveLength(5);
    expect(new Set(logs.map((log) => `${log.provider} ${log.success} ${log.error_code}`))).toEqual(
      new Set(['kuaidi100 true ']),
    );
  });

  test('asks the secondary driver after a failed query, and keeps to the one that has answered', async () => {
    simulator.change({ refuseRate: 1, faultsOf: ['kuaidi100'] });
    const parcel = await of.ship({ company: 'ZTO', tracking_no: 'ZT2000000000001' });
    await of.sync(parcel);
    expect(await of.shipmentOf(parcel)).toMatchObject({ channel_provider: 'kdniao', sync_fail_count: 0 });
    expect((await of.logs(parcel.shipment_id)).map((log) => [log.provider, log.success, log.error_code])).toEqual([
      ['kuaidi100', false, 'query_failed'],
      ['kdniao', true, ''],
    ]);
    simulator.change({ refuseRate: 0 });
    const before = queries();
    await of.sync(parcel);
    await of.sync(parcel);
    const after = queries();
    expect([after.kuaidi100 - before.kuaidi100, after.kdniao - before.kdniao]).toEqual([0, 2]);
    expect(await of.shipmentOf(parcel)).toMatchObject({ logistics_status: 'signed', channel_provider: 'kdniao' });
    // A channel that fails is not replaced by the other driver.
    simulator.change({ refuseRate: 1, faultsOf: ['kdniao'] });
    await of.sync(parcel);
    expect(queries().kuaidi100).toBe(after.kuaidi100);
    expect(await of.shipmentOf(parcel)).toMatchObject({ logistics_status: 'signed', sync_fail_count: 1 });
  });

  test.each([
    ['provider_b', 'kdniao'],
    ['logistics_kdniao', 'kdniao'],
    ['provider_a', 'kuaidi100'],
  ])('asks %s first when it is the primary driver', async (name, driver) => {
    await set('primary_driver', name);
    const parcel = await of.ship({ company: 'JD', tracking_no: newNumber('JD') });
    await of.sync(parcel);
    expect((await of.shipmentOf(parcel)).channel_provider).toBe(driver);
  });

  test('asks the driver that fills a slot', async () => {
    await set('provider_a', 'logistics_kdniao');
    await set('primary_driver', 'provider_a');
    const parcel = await of.ship({ company: 'JD', tracking_no: newNumber('JD') });
    await of.sync(parcel);
    expect((await of.shipmentOf(parcel)).channel_provider).toBe('kdniao');
    await expect(set('primary_driver', 'provider_c')).rejects.toThrow('logistics_router.primary_driver');
    await expect(set('provider_a', 'provider_b')).rejects.toThrow('logistics_router.provider_a');
  });

  const faults = ['timeout', 'garbage', 'error', 'refuse'] as const;
  test.each(faults)('with a carrier that answers with %s counts a failure, and the next one goes on', async (fault) => {
    const parcel = await of.ship({ company: 'YTO', tracking_no: newNumber('YT') });
    await of.sync(parcel);
    simulator.change({ [`${fault}Rate`]: 1 });
    // Every kind of garbage once.
    const times = fault === 'garbage' ? 5 : 1;
    for (let n = 0; n < times; n += 1) expect(await of.sync(parcel)).toMatchObject({ code: 0, data: null });
    expect(await of.shipmentOf(parcel)).toMatchObject({ logistics_status: 'in_transit', sync_fail_count: times });
    expect((await of.tracks(parcel)).data).toHaveLength(3);
    const failed = (await of.logs(parcel.shipment_id)).slice(1);
    expect(failed).toHaveLength(times);
    for (const log of failed) expect(log).toMatchObject({ success: false, error_code: 'query_failed' });
    expect(failed.map(({ error }) => error).join()).not.toMatch(/demo-key|demo-api-key/);
    simulator.change(noFaults);
    await of.sync(parcel);
    expect(await of.shipmentOf(parcel)).toMatchObject({ logistics_status: 'signed', sync_fail_count: 0 });
  });

  test('with a carrier that quotes the request stores neither the key nor the phone of the receiver', async () => {
    const server = createServer(async (request, response) => {
      const form = new URLSearchParams(await text(request));
      response.end(JSON.stringify({ status: '408', message: `demo-key ${form.get('param')}` }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { settings } = shop.server.runtime;
    const api_url = 'logistics_kuaidi100.api_url';
    await settings.set(api_url, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const parcel = await of.ship({ company: 'SF', tracking_no: newNumber('SF') });
    await of.sync(parcel);
    await settings.set(api_url, simulator.apiUrl('kuaidi100'));
    server.close();
    const [log] = await of.logs(parcel.shipment_id);
    expect(log!.error).toMatch(/^408 \*\*\* .*"phone":"\*\*\*"/);
  });

  test('with both drivers failing fixes no channel', async () => {
    simulator.change({ errorRate: 1 });
    const parcel = await of.ship({ company: 'YTO', tracking_no: newNumber('YT') });
    await of.sync(parcel);
    const shipment = await of.shipmentOf(parcel);
    expect(shipment).toMatchObject({ channel_provider: '', sync_fail_count: 1, last_sync_ok_at: null });
    expect(shipment.last_query_at).not.toBeNull();
    expect((await of.logs(parcel.shipment_id)).map(({ provider }) => provider)).toEqual(['kuaidi100', 'kdniao']);
  });

  test('never goes back: an earlier state keeps the signature and its time', async () => {
    const parcel = await of.ship({ company: 'YD', tracking_no: 'YD1000000000004' });
    await of.sync(parcel);
    const signed = await of.shipmentOf(parcel);
    expect(signed).toMatchObject({ logistics_status: 'signed', signed_at: '2024-03-04T10:55:21+08:00' });
    for (let n = 0; n < 2; n += 1) await of.sync(parcel);
    const { logistics_status, signed_at } = await of.shipmentOf(parcel);
    expect({ logistics_status, signed_at }).toEqual({ logistics_status: 'signed', signed_at: signed.signed_at });
    expect((await of.tracks(parcel)).data).toHaveLength(5);
  });

  test('goes from a problem on to the signature, and not back to the start', async () => {
    const parcel = await of.ship({ company: 'YTO', tracking_no: 'YT1000000000002' });
    const states: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      await of.sync(parcel);
      states.push((await of.shipmentOf(parcel)).logistics_status);
    }
    expect(states).toEqual(['in_transit', 'exception', 'exception']);
    simulator.change({ regressRate: 1 });
    await of.sync(parcel);
    // The first state of the recording is in_transit: the shipment goes on.
    expect((await of.shipmentOf(parcel)).logistics_status).toBe('in_transit');
  });

  test('of a local delivery does nothing', async () => {
    const before = queries();
    const parcel = await of.ship({ delivery_type: 'local', rider_name: 'Li', rider_phone: '13800000000' });
    expect(await of.sync(parcel)).toMatchObject({ code: 0, data: null });
    expect(await of.shipmentOf(parcel)).toMatchObject({ last_query_at: null, sync_fail_count: 0 });
    expect(queries()).toEqual(before);
  });

  test('is refused by name when it can not succeed', async () => {
    const parcel = await of.ship({ company: 'HAWK', tracking_no: newNumber('HW') });
    expect(await of.sync(parcel)).toMatchObject({ code: 500, message: expect.stringContaining('"HAWK"') });
    const [returned] = await shop.database.sql<{ id: number }[]>`
      insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, tracking_no)
      values (${parcel.order_id}, 'express', 'inbound', 'return', 'R1') returning id`;
    expect(await of.sync({ ...parcel, shipment_id: returned!.id })).toMatchObject({
      code: 500,
      message: 'The shipment has no carrier',
    });
    await shop.database.sql`delete from fulfilment.shipments where id = ${returned!.id}`;
    expect(await of.sync({ ...parcel, shipment_id: 2 ** 40 })).toMatchObject({
      code: 404,
      message: 'Shipment not found',
    });
    const other = await of.ship({ company: 'SF', tracking_no: newNumber('SF') });
    expect(await of.sync({ ...other, order_id: parcel.order_id })).toMatchObject({ code: 404 });
    await set('enabled', false);
    expect(await of.sync(other)).toMatchObject({
      code: 500,
      message: expect.stringContaining('logistics_router.enabled'),
    });
    await set('enabled', true);
    const { settings } = shop.server.runtime;
    const keys = ['logistics_kuaidi100.key', 'logistics_kdniao.api_key'];
    const stored = keys.map((key) => settings.list().find((row) => row.key === key)!.value);
    for (const key of keys) await settings.unset(key);
    const { code, message } = await of.sync(other);
    expect(code).toBe(500);
    for (const key of keys) expect(message).toContain(key);
    for (const [index, key] of keys.entries()) await settings.set(key, stored[index]);
    expect(await of.sync(other)).toMatchObject({ code: 0 });
  });

  test('is refused when the driver that the shipment is fixed to has lost its account', async () => {
    const parcel = await of.ship({ company: 'SF', tracking_no: newNumber('SF') });
    expect(await of.sync(parcel)).toMatchObject({ code: 0 });
    const { channel_provider } = await of.shipmentOf(parcel);
    expect(channel_provider).toBe('kuaidi100');
    const { settings } = shop.server.runtime;
    const key = 'logistics_kuaidi100.key';
    const stored = settings.list().find((row) => row.key === key)!.value;
    await settings.unset(key);
    const answer = await of.sync(parcel);
    await settings.set(key, stored);
    expect(answer).toMatchObject({ code: 500, message: expect.stringContaining(key) });
  });

  test('with many events costs no more statements than its route declares', async () => {
    const route = shop.server.routes.find(({ path }) => path.endsWith('/:shipment_id/sync'))!;
    const statements = logStatements(shop);
    for (const fault of ['none', 'refuse']) {
      const parcel = await of.ship({ company: 'SF', tracking_no: newNumber('SF') });
      if (fault === 'refuse') simulator.change({ refuseRate: 1 });
      const { texts } = await statements.during(() => of.sync(parcel));
      expect(texts.length, texts.join('\n')).toBeGreaterThan(4);
      expect(texts.length, texts.join('\n')).toBeLessThanOrEqual(route.statements!);
    }
  });

  test('by many at once queries the carrier once', async () => {
    await set('timeout_ms', 10_000);
    simulator.change({ latencyMs: 1_500 });
    const tracking_no = newNumber('ST');
    const parcel = await of.ship({ company: 'STO', tracking_no });
    const answers = await Promise.all(Array.from({ length: 10 }, () => of.sync(parcel)));
    simulator.change({ latencyMs: 0 });
    await set('timeout_ms', 300);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0]));
    expect(simulator.seen(tracking_no)).toBe(1);
  });
});

describe('the job of new shipments', () => {
  /** The tasks of a new process: its circuits are closed. */
  async function runAsNewProcess<T>(work: (run: (ids: readonly number[]) => Promise<void>) => Promise<T>): Promise<T> {
    const deps = openSyncDeps(shop.server.runtime, [kuaidi100, kdniao]);
    const task = syncJobs(deps)['fulfilment.sync_shipments']!;
    const { signal } = new AbortController();
    const run = (shipment_ids: readonly number[]) => task({ shipment_ids }, { log: shop.server.runtime.log, signal });
    return work(run).finally(() => deps.client.close());
  }

  test('is retried for the shipments that met open circuits, and asks about no other again', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 6; n += 1)
      ids.push((await of.ship({ company: 'ZTO', tracking_no: newNumber('ZT') })).shipment_id);
    const askedOf = async () => Promise.all(ids.map(async (id) => (await of.logs(id)).length));
    // One query at a time: the failures of five shipments open the circuits of both services.
    await set('concurrency', 1);
    simulator.change({ errorRate: 1 });
    await runAsNewProcess(async (run) => {
      await expect(run(ids)).rejects.toThrow('1 new shipments could not be queried yet');
      await expect(run(ids)).rejects.toThrow('1 new shipments could not be queried yet');
      await set('polling_enabled', true);
      await run(ids);
      await set('polling_enabled', false);
    });
    const once = await askedOf();
    expect([...once].sort()).toEqual([0, 2, 2, 2, 2, 2]);
    simulator.change(noFaults);
    await runAsNewProcess((run) => run(ids));
    expect(await askedOf()).toEqual(once.map((logs) => Math.max(logs, 1)));
  });

  test('is retried when the process that claimed a shipment was killed', async () => {
    const { shipment_id } = await of.ship({ company: 'ZTO', tracking_no: newNumber('ZT') });
    const claimUntil = (minutes: number) => shop.database.sql`
      update fulfilment.shipments set claimed_until = now() + ${minutes} * interval '1 minute' where id = ${shipment_id}`;
    await runAsNewProcess(async (run) => {
      await claimUntil(2);
      await expect(run([shipment_id])).rejects.toThrow('could not be queried yet');
      await claimUntil(-1);
      await run([shipment_id]);
    });
    expect(await of.logs(shipment_id)).toMatchObject([{ success: true }]);
  });

  test('the first sync of many shipments is split into jobs that start after others', async () => {
    const { sql } = shop.database;
    const start = openSyncStarter(shop.server.runtime.settings, [kuaidi100]);
    const ids = Array.from({ length: 120 }, (_, n) => n + 1);
    await sql`truncate graphile_worker._private_jobs`;
    await sql.begin((tx) => start(tx, ids));
    const jobs = await sql<{ priority: number; payload: { shipment_ids: number[] } }[]>`
      select priority, payload from graphile_worker._private_jobs order by id`;
    expect(jobs.map(({ priority, payload }) => [priority, payload.shipment_ids.length])).toEqual([
      [10, 50],
      [10, 50],
      [10, 20],
    ]);
    expect(jobs.flatMap(({ payload }) => payload.shipment_ids)).toEqual(ids);
  });
});

describe('the events of a shipment', () => {
  test('are answered to staff and to the buyer with all fields, newest first', async () => {
    const parcel = await of.ship({ company: 'EMS', tracking_no: newNumber('EM') });
    expect((await of.tracks(parcel)).data).toEqual([]);
    await of.sync(parcel);
    const { data } = await of.tracks(parcel);
    expect(data).toHaveLength(3);
    expect(data[0]).toEqual({
      ...{ id: expect.any(Number), shipment_id: parcel.shipment_id, provider: 'kuaidi100' },
      track_hash: expect.stringMatching(/^[0-9a-f]{40}$/),
      ...{ status_code: '在途', status_text: '快件已经到达 【上海转运中心】', location: '上海,上海市' },
      event_time: '2024-03-04T02:17:09+08:00',
      raw_payload: expect.objectContaining({ context: '快件已经到达 【上海转运中心】' }),
    });
    const times = data.map((node: { event_time: string }) => node.event_time);
    expect(times).toEqual([...times].sort().reverse());
    expect((await of.tracks(parcel, of.buyer.token)).data).toEqual(data);
  });

  test('are hidden from every other shopper, and belong to their own order only', async () => {
    const parcel = await of.ship({ company: 'EMS', tracking_no: newNumber('EM') });
    const other = await of.ship({ company: 'EMS', tracking_no: newNumber('EM') });
    await of.sync(parcel);
    const outsider = await shop.shopper();
    expect(await of.tracks(parcel, outsider.token)).toMatchObject({ code: 404, data: null });
    for (const token of [of.staff, of.buyer.token]) {
      const wrong = { order_id: other.order_id, shipment_id: parcel.shipment_id };
      expect(await of.tracks(wrong, token)).toMatchObject({ code: 404, message: 'Shipment not found' });
      expect(await of.tracks({ ...parcel, shipment_id: 2 ** 40 }, token)).toMatchObject({ code: 404 });
      expect(await of.tracks({ ...parcel, order_id: 2 ** 40 }, token)).toMatchObject({ code: 404 });
    }
  });

  test('of a service that changes its texts stay bounded', async () => {
    const parcel = await of.ship({ company: 'EMS', tracking_no: newNumber('EM') });
    await shop.database.sql`
      insert into fulfilment.shipment_tracks (shipment_id, provider, track_hash, status_code, status_text, event_time, location, raw_payload)
      select ${parcel.shipment_id}, 'kuaidi100', md5(n::text), '', '', now(), '', '{}' from generate_series(1, 499) as n`;
    await of.sync(parcel);
    const [row] = await shop.database.sql`
      select count(*)::int as n from fulfilment.shipment_tracks where shipment_id = ${parcel.shipment_id}`;
    expect(row).toEqual({ n: 500 });
    expect((await of.tracks(parcel)).data).toHaveLength(200);
  });
});

test('the companies are answered in the language of the caller', async () => {
  const list = async (lang: string) =>
    (await shop.call('GET', `/admin/api/delivery/companies?lang=${lang}`, { token: of.staff })).data;
  const english = await list('en');
  expect(english.map((row: { code: string }) => row.code).sort()).toEqual(
    ['SF', 'ZTO', 'YTO', 'STO', 'YD', 'JD', 'EMS', 'DBL', 'JT'].sort(),
  );
  expect(english[0]).toEqual({ code: 'SF', label: 'SF Express' });
  expect((await list('zh-CN'))[0]).toEqual({ code: 'SF', label: '顺丰速运' });
});
