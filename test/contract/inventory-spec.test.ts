import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@tradepost/app';
import { createApp } from '@tradepost/http';
import type { Transaction } from '@tradepost/postgres';
import { loadConfig, openLog } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { externalSettings, warehouseAccount as keys, sendCallback } from '@tradepost/testing/external-shop';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { expectFields } from '@tradepost/testing/routes/contract';
import { type Behaviour, json, startWarehouseServer } from '@tradepost/testing/servers/warehouse-server';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { stockWarehouses } from '@tradepost/testing/warehouses';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callbackRoutes } from '../../packages/external-wms/callbacks/callback-routes.ts';
import { type Callback, receiveCallbacks } from '../../packages/external-wms/callbacks/receive-callbacks.ts';
import { externalProvider, openTaskWriter } from '../../packages/external-wms/external-provider.ts';
import type { TaskAction } from '../../packages/external-wms/protocol/actions.ts';
import { externalSignature } from '../../packages/external-wms/protocol/signature.ts';
import {
  appKey,
  appSecret,
  openTaskBench,
  orderTask,
  type TaskBench,
  warehouseSettings,
} from '../../packages/external-wms/testing/warehouse-tasks.ts';
import { builtinProvider } from '../../packages/inventory/providers/builtin/builtin-provider.ts';
import type { InventoryProvider } from '../../packages/inventory/reservations/provider.ts';

/**
 * The specification of inventory, row by row and field by field. Concurrency, faults and workers are tested in
 * packages/external-wms, warehouses in warehouse.test.ts and packages/inventory/documents/warehouse-documents.test.ts.
 */
const plain = <T>(rows: readonly T[]) => rows.map((row) => ({ ...row }));

describe('the settings', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench();
  });
  afterAll(() => bench?.close());
  const refusalOf = (key: string, value: unknown) =>
    bench.runtime.settings.set(key, value).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  const current = (key: string) => bench.runtime.settings.list().find((row) => row.key === key)?.value;

  test('have the names of the table and the defaults of existing shops', () => {
    const defaults = Object.fromEntries(warehouseSettings.map(({ key, fallback }) => [key, fallback]));
    expect(defaults).toEqual({
      'inventory.provider': 'local',
      'inventory.external_mode': 'sync',
      'external_wms.endpoint': '',
      'external_wms.app_key': '',
      'external_wms.app_secret': '',
      'external_wms.timeout_ms': 3_000,
      'external_wms.callback_enabled': true,
      'external_wms.signature_ttl': 300,
      'external_wms.worker_interval_sec': 5,
      'external_wms.retry.max_attempts': 8,
      'external_wms.retry.backoff_seconds': 30,
      // The specification does not have the deadline and the retention.
      'external_wms.callback_deadline_sec': 120,
      'retention.warehouse_tasks_days': 90,
      'retention.warehouse_callbacks_days': 90,
    });
  });

  test.each<[key: string, taken: [given: unknown, stored: unknown][], refused: unknown[]]>([
    [
      'inventory.provider',
      [
        ['', 'local'],
        ['local', 'local'],
        ['wms', 'builtin_wms'],
        ['builtin_wms', 'builtin_wms'],
        ['external', 'external_wms'],
        ['external_wms', 'external_wms'],
      ],
      ['erp', 'LOCAL', null, 0, true],
    ],
    [
      'inventory.external_mode',
      [
        ['', 'sync'],
        ['sync', 'sync'],
        ['async', 'async'],
      ],
      ['both', 'ASYNC', null, 1],
    ],
    [
      'external_wms.endpoint',
      [
        ['https://wms.example/api/', 'https://wms.example/api'],
        ['http://10.0.0.5:8080', 'http://10.0.0.5:8080'],
      ],
      [
        'wms.example',
        'ftp://wms.example',
        'http://u:p@wms.example',
        'http://wms.example/?a=1',
        'http://wms.example/#a',
        7,
      ],
    ],
    ['external_wms.app_key', [['shop-1', 'shop-1']], ['a b', 'a\n', '商店', 'x'.repeat(201), 7]],
    ['external_wms.app_secret', [['two words 密', 'two words 密']], ['two\nlines', 'x'.repeat(501), 7]],
    [
      'external_wms.timeout_ms',
      [
        [50, 50],
        [60_000, 60_000],
      ],
      [49, 60_001, 1.5, '3000', null],
    ],
    [
      'external_wms.callback_enabled',
      [
        [false, false],
        [true, true],
      ],
      ['true', 1, null],
    ],
    [
      'external_wms.signature_ttl',
      [
        [10, 10],
        [86_400, 86_400],
      ],
      [9, 86_401, 1.5, '300'],
    ],
    [
      'external_wms.worker_interval_sec',
      [
        [1, 1],
        [3_600, 3_600],
      ],
      [0, 3_601, 0.5, '5'],
    ],
    [
      'external_wms.retry.max_attempts',
      [
        [1, 1],
        [1_000, 1_000],
      ],
      [0, 1_001, 1.5, '8'],
    ],
    [
      'external_wms.retry.backoff_seconds',
      [
        [0, 0],
        [86_400, 86_400],
      ],
      [-1, 86_401, 0.5, '30'],
    ],
  ])('%s takes what it can be, refuses the rest by its name and stays as it was', async (key, taken, refused) => {
    for (const [given, stored] of taken) {
      expect(await refusalOf(key, given), JSON.stringify(given)).toBe('accepted');
      expect(current(key)).toEqual(stored);
    }
    const before = current(key);
    for (const wrong of refused) {
      expect(await refusalOf(key, wrong), JSON.stringify(wrong)).toContain(key);
      expect(current(key)).toEqual(before);
    }
    await bench.runtime.settings.unset(key);
  });
});

describe('a shop with the secret of a partner', () => {
  const secret = 'hush-of-the-partner-42';
  let shop: Shop;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradepost-spec-'));
    const settings = { ...externalSettings('http://127.0.0.1:9/wms', 'async'), 'external_wms.app_secret': secret };
    shop = await openShop({}, settings);
  });
  afterAll(async () => {
    await shop?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('does not show it in commands that print settings or configuration', async () => {
    const of = ['--database-url', shop.database.url];
    const file = join(folder, 'config.json');
    await writeFile(
      file,
      JSON.stringify({ settings: { 'external_wms.app_secret': secret, 'inventory.provider': 'local' } }),
    );
    const outputs = [];
    for (const args of [
      ['settings', 'list', 'external_wms', ...of],
      ['settings', 'list', '--json', ...of],
      ['settings', 'get', 'external_wms.app_secret', ...of],
      ['settings', 'list', '--config', file, ...of],
      ['config', '--config', file],
      ['config', '--config', file, '--json'],
    ]) {
      const { code, stdout, stderr } = await runCommandInProcess(args);
      expect(stdout + stderr, args.join(' ')).not.toContain(secret);
      expect(code, args.join(' ') + stderr).toBe(0);
      outputs.push(stdout);
    }
    expect(outputs[0]).toMatch(/external_wms\.app_secret +\*\*\* +table/);
    expect(outputs[2]).toBe('***\n');
  });

  test('does not answer it in the back office', async () => {
    const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const reads = shop.server.routes.filter(
      (route) => route.method === 'GET' && route.path.startsWith('/admin/') && !route.path.includes(':'),
    );
    expect(reads.length).toBeGreaterThan(12);
    for (const { path } of reads) {
      const response = await fetch(shop.url + path, { headers: { authorization: `Bearer ${token}` } });
      expect(await response.text(), path).not.toContain(secret);
    }
  });

  test.each([
    ['inventory.provider', 'erp'],
    ['inventory.external_mode', 'later'],
    ['external_wms.endpoint', 'wms.example'],
    ['external_wms.timeout_ms', 0],
    ['external_wms.retry.max_attempts', 'eight'],
  ])('does not start with %s = %j in its file, and says so', async (key, value) => {
    const { config } = loadConfig({
      env: {},
      flags: { databaseUrl: shop.database.url, data: folder, port: 0, seed: 'none', only: 'api' },
    });
    const started = startServer({
      config: { ...config, settings: { [key]: value } },
      log: openLog({ level: 'silent' }),
    });
    await expect(started).rejects.toThrow(key);
  });

  test.each([
    ['inventory.provider', 'erp'],
    ['inventory.external_mode', 'later'],
  ])('does not start with %s = %j in its table, rather than with the default', async (key, value) => {
    const { sql } = shop.database;
    const before = await sql`select provider, known from inventory.provider_state`;
    await sql`update runtime.settings set value = to_jsonb(${value}::text) where key = ${key}`;
    const { config } = loadConfig({
      env: {},
      flags: { databaseUrl: shop.database.url, data: folder, port: 0, seed: 'none', only: 'api' },
    });
    const started = startServer({ config, log: openLog({ level: 'silent' }) });
    await expect(started).rejects.toThrow(`${key}: "${value}"`);
    expect(await sql`select provider, known from inventory.provider_state`).toEqual(before);
    const right = key === 'inventory.provider' ? 'external_wms' : 'async';
    await sql`update runtime.settings set value = to_jsonb(${right}::text) where key = ${key}`;
  });
});

/** The statuses of an order after each answer of the partner. */
describe('tasks for a partner', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench();
    // builtin_wms checks that it is the active provider, so the state must name it.
    await bench.sql`insert into inventory.provider_state (provider, known) values ('builtin_wms', '{local,builtin_wms}')`;
  });
  afterAll(() => bench?.close());
  beforeEach(async () => {
    bench.partner.calls.length = 0;
    bench.partner.behave = json({ code: 0 });
    await bench.runtime.settings.set('external_wms.callback_enabled', false);
  });
  afterEach(async () => {
    await bench.sql`truncate inventory.inventory_integration_tasks, inventory.external_callbacks, inventory.external_nonces,
      inventory.order_inventory_state, inventory.inventory_reservation, orders.orders`;
  });

  let callbacks = 0;
  const callback = (biz_no: string, action: TaskAction, status: Callback['status'], message = '') => {
    callbacks += 1;
    const ids = {
      request_id: bench.requestId(biz_no, action),
      callback_id: `cb-${callbacks}`,
      nonce: `n-${callbacks}`,
    };
    return receiveCallbacks(bench.deps, [{ ...ids, status, message, body: '{}' }]);
  };
  /** Writes a further task of the order and delivers it; the partner answers `code`. */
  async function deliverTask(biz_no: string, action: TaskAction, code: number, maxAttempts = 1) {
    await bench.add([orderTask(biz_no, action)], { maxAttempts, backoffSeconds: 0 });
    bench.partner.behave = json({ code, message: code === 0 ? '' : `said ${code}` });
    await bench.worker().deliver();
  }
  const befores: Record<string, [TaskAction, number][]> = {
    pending: [],
    reserved: [['reserve', 0]],
    confirmed: [
      ['reserve', 0],
      ['confirm', 0],
    ],
    released: [
      ['reserve', 0],
      ['release', 0],
    ],
    failed: [['reserve', 4003]],
  };
  async function orderThatIs(state: string, biz_no: string) {
    await bench.orders([biz_no]);
    for (const [action, code] of befores[state]!) await deliverTask(biz_no, action, code);
    expect(await bench.statusesOf(biz_no)).toMatchObject({ order: state, state });
  }

  describe('inventory_status of an order', () => {
    const states = Object.keys(befores);
    test.each(states)('that is %s becomes failed when a task fails, by answer or by callback', async (state) => {
      const failures: [string, (no: string) => Promise<unknown>, string][] = [
        ['refused for good', (no) => deliverTask(no, 'deduct', 4004), 'said 4004'],
        ['with an unknown code', (no) => deliverTask(no, 'deduct', 4711), 'said 4711'],
        ['at the last attempt', (no) => deliverTask(no, 'deduct', 1001, 2), 'said 1001'],
        [
          'by a callback',
          async (no) => {
            await bench.runtime.settings.set('external_wms.callback_enabled', true);
            await deliverTask(no, 'deduct', 0);
            await callback(no, 'deduct', 'failed', 'no room');
            await bench.runtime.settings.set('external_wms.callback_enabled', false);
          },
          'no room',
        ],
      ];
      for (const [index, [how, fail, last_error]] of failures.entries()) {
        const no = `F${index}`;
        await orderThatIs(state, no);
        await fail(no);
        expect(await bench.statusesOf(no), how).toMatchObject({ order: 'failed', state: 'failed', last_error });
        expect((await bench.task(no, 'deduct')).status).toBe('failed');
      }
    });

    test.each(states.flatMap((state) => (['release', 'restore'] as const).map((action) => [state, action] as const)))(
      'that is %s is released when a %s succeeds',
      async (state, action) => {
        if (state === 'released' && action === 'release') return;
        await orderThatIs(state, 'R1');
        await deliverTask('R1', action, 0);
        expect(await bench.statusesOf('R1')).toMatchObject({ order: 'released', state: 'released', last_error: '' });
      },
    );

    test.each([
      ['pending', 'confirm'],
      ['pending', 'deduct'],
      ['reserved', 'confirm'],
      ['reserved', 'deduct'],
    ] as const)('that is %s is confirmed when a %s succeeds', async (state, action) => {
      await orderThatIs(state, 'K1');
      await deliverTask('K1', action, 0);
      expect(await bench.statusesOf('K1')).toMatchObject({ order: 'confirmed', state: 'confirmed', last_error: '' });
    });

    test('stays pending until the task has ended: between attempts, during the call, and until the callback', async () => {
      await bench.orders(['P1'], ['reserve'], { backoffSeconds: 0 });
      bench.partner.behave = json({ code: 2001 });
      await bench.sql`update inventory.inventory_integration_tasks set backoff_seconds = 60`;
      const worker = bench.worker();
      await worker.deliver();
      expect(await bench.statusesOf('P1')).toMatchObject({ order: 'pending', state: 'pending' });
      bench.pass(60);
      const during: unknown[] = [];
      await bench.runtime.settings.set('external_wms.callback_enabled', true);
      bench.partner.behave = (received, response) => {
        void bench.statusesOf('P1').then((statuses) => {
          during.push(statuses);
          json({ code: 0 })(received, response);
        });
      };
      await worker.deliver();
      for (const statuses of [during[0], await bench.statusesOf('P1')])
        expect(statuses).toMatchObject({ order: 'pending', state: 'pending', reservation: 'reserved' });
      await callback('P1', 'reserve', 'success');
      expect(await bench.statusesOf('P1')).toMatchObject({ order: 'reserved', state: 'reserved' });
    });
  });

  describe('a code of the table, from HTTP to the database', () => {
    const table: [code: number, retried: boolean][] = [
      [1001, true],
      [1002, true],
      [1003, true],
      [2001, true],
      [4001, false],
      [4002, false],
      [4003, false],
      [4004, false],
      [5000, true],
      [5001, true],
      [5002, true],
      // Codes that the table does not have.
      [1, false],
      [1004, false],
      [2002, false],
      [4999, false],
      [5003, false],
      [-1, false],
    ];
    test.each(table)('%i: retried %s', async (code, retried) => {
      await bench.orders(['T1'], ['reserve'], { maxAttempts: 3, backoffSeconds: 7 });
      bench.partner.behave = json({ code, message: 'because' });
      const worker = bench.worker();
      const counts = await worker.deliver();
      expect(counts).toMatchObject({ delivered: 1, retried: retried ? 1 : 0, failed: retried ? 0 : 1 });
      expect(await bench.task('T1', 'reserve')).toMatchObject({
        ...{ status: retried ? 'pending' : 'failed', attempt_count: 1, last_code: code, last_error: 'because' },
        completed_at: retried ? null : bench.now(),
      });
      expect(await bench.statusesOf('T1')).toMatchObject({ order: retried ? 'pending' : 'failed' });
      bench.pass(7);
      bench.partner.behave = json({ code: 0 });
      expect(await worker.deliver()).toMatchObject({ delivered: retried ? 1 : 0 });
      expect(await bench.statusesOf('T1')).toMatchObject({ order: retried ? 'reserved' : 'failed' });
    });

    test('0 ends the task at the first attempt', async () => {
      await bench.orders(['T0'], ['reserve']);
      expect(await bench.worker().deliver()).toMatchObject({ delivered: 1, succeeded: 1 });
      expect(await bench.task('T0', 'reserve')).toMatchObject({ status: 'success', attempt_count: 1, last_code: 0 });
    });
  });

  test('a task has max_attempts attempts, with backoff_seconds between them', async () => {
    await bench.orders(['B1'], ['confirm'], { maxAttempts: 5, backoffSeconds: 20 });
    bench.partner.behave = json({ code: 5002 });
    const worker = bench.worker();
    for (const attempt of [1, 2, 3, 4]) {
      expect(await worker.deliver()).toMatchObject({ delivered: 1, retried: 1 });
      const task = await bench.task('B1', 'confirm');
      expect(task).toMatchObject({ status: 'pending', attempt_count: attempt });
      expect(+task.next_retry_at - +bench.now()).toBe(20_000);
      bench.pass(19);
      expect(await worker.deliver()).toMatchObject({ delivered: 0 });
      bench.pass(1);
    }
    expect(await worker.deliver()).toMatchObject({ delivered: 1, failed: 1 });
    expect(await bench.task('B1', 'confirm')).toMatchObject({ status: 'failed', attempt_count: 5 });
    expect(bench.partner.calls).toHaveLength(5);
  });

  test('every field of a task has the right value in each state', async () => {
    const fields = async () => {
      const { id, request_id, sequence_key, created_at, updated_at, ...task } = await bench.task('A1', 'release');
      return task;
    };
    await bench.runtime.settings.set('external_wms.callback_enabled', true);
    await bench.orders(['A1']);
    const payload = { biz_type: 'order', biz_no: 'A1', reason: 'timeout' };
    await bench.add([{ biz_type: 'order', biz_no: 'A1', action: 'release', payload }], {
      maxAttempts: 4,
      backoffSeconds: 9,
    });
    const given = {
      ...{ provider: 'external_wms', biz_type: 'order', biz_no: 'A1', action: 'release', payload, mode: 'async' },
      ...{ max_attempts: 4, backoff_seconds: 9 },
    };
    const none = { lock_owner: null, lock_expires_at: null, accepted_at: null, completed_at: null };
    const start = { last_code: null, last_error: '', last_callback_id: null };
    expect(await fields()).toEqual({
      ...{ ...given, ...none, ...start, status: 'pending', attempt_count: 0, next_retry_at: bench.now() },
    });

    let called: Awaited<ReturnType<typeof fields>> | undefined;
    bench.partner.behave = (received, response) => {
      void fields().then((task) => {
        called = task;
        json({ code: 1002, message: 'slow' })(received, response);
      });
    };
    await bench.worker('worker-7').deliver();
    expect(called).toMatchObject({
      ...given,
      status: 'processing',
      attempt_count: 1,
      lock_owner: 'worker-7',
      completed_at: null,
    });
    expect(+called!.lock_expires_at!).toBeGreaterThan(+bench.now() + 3_000);
    expect(called!.next_retry_at).toEqual(called!.lock_expires_at);
    expect(await fields()).toEqual({
      ...{ ...given, ...none, status: 'pending', attempt_count: 1, next_retry_at: new Date(+bench.now() + 9_000) },
      ...{ last_code: 1002, last_error: 'slow', last_callback_id: null },
    });

    bench.pass(9);
    bench.partner.behave = json({ code: 0 });
    await bench.worker().deliver();
    const deadline = new Date(+bench.now() + 120_000);
    expect(await fields()).toEqual({
      ...{ ...given, ...start, last_code: 0, status: 'processing', attempt_count: 2, lock_owner: null },
      ...{ lock_expires_at: deadline, next_retry_at: deadline, accepted_at: bench.now(), completed_at: null },
    });

    bench.pass(1);
    await callback('A1', 'release', 'processing');
    const later = new Date(+bench.now() + 120_000);
    expect(await fields()).toMatchObject({
      ...{ status: 'processing', lock_expires_at: later, next_retry_at: later, last_callback_id: `cb-${callbacks}` },
    });
    bench.pass(1);
    await callback('A1', 'release', 'success');
    const ended = await fields();
    expect(ended).toMatchObject({
      ...{
        ...given,
        status: 'success',
        attempt_count: 2,
        last_code: 0,
        last_error: '',
        last_callback_id: `cb-${callbacks}`,
      },
      ...{ lock_owner: null, lock_expires_at: null, completed_at: bench.now() },
    });
    bench.pass(1);
    for (const status of ['failed', 'processing', 'success'] as const) await callback('A1', 'release', status, 'late');
    expect(await fields()).toEqual(ended);
  });

  test.each([
    [-301, false],
    [-300, true],
    [300, true],
    [301, false],
  ])('a callback of %i seconds from our clock is taken: %s', async (offset, taken) => {
    await bench.runtime.settings.set('external_wms.callback_enabled', true);
    await bench.orders(['V1'], ['reserve']);
    const [route] = callbackRoutes(bench.deps);
    const shop = createApp({ routes: [route!], resources: [], authenticate: () => null, runtime: bench.runtime });
    // Near the end of a second.
    bench.pass((999 - (+bench.now() % 1000)) / 1000);
    const parts = {
      app_key: appKey,
      timestamp: String(Math.floor(+bench.now() / 1000) + offset),
      nonce: `v-${offset}`,
      body: JSON.stringify({ request_id: bench.requestId('V1', 'reserve'), status: 'success' }),
    };
    const body = JSON.stringify({ ...parts, sign: externalSignature(parts, appSecret) });
    const headers = { 'content-type': 'application/json' };
    const answer = await shop.fetch(new Request(`http://shop${route!.path}`, { method: 'POST', headers, body }));
    expect(await answer.json()).toMatchObject(
      taken ? { code: 0 } : { code: 400, message: expect.stringContaining('timestamp') },
    );
    expect((await bench.task('V1', 'reserve')).status).toBe(taken ? 'success' : 'pending');
  });

  test('the deadline of a callback and the poll of the worker follow their settings', async () => {
    const { settings } = bench.runtime;
    await settings.setMany({
      'external_wms.callback_enabled': true,
      'external_wms.callback_deadline_sec': 7,
      'external_wms.worker_interval_sec': 11,
    });
    await bench.orders(['W1'], ['reserve', 'confirm']);
    await bench.worker().deliver();
    expect((await bench.task('W1', 'reserve')).next_retry_at).toEqual(new Date(+bench.now() + 7_000));
    expect((await bench.task('W1', 'confirm')).next_retry_at).toEqual(new Date(+bench.now() + 11_000));
    await settings.unset('external_wms.callback_deadline_sec');
    await settings.unset('external_wms.worker_interval_sec');
  });

  test.each<[name: string, provider: () => InventoryProvider]>([
    ['builtin_wms', () => builtinProvider],
    [
      'external_wms',
      () => {
        const runtime = { ...bench.runtime, groupCommit: undefined as never };
        return externalProvider({ runtime, mode: 'async', owner: 'w' }, openTaskWriter({ runtime, mode: 'async' }));
      },
    ],
  ])('an order whose two lines name one SKU is one reservation of their sum: %s', async (name, provider) => {
    const { sql } = bench;
    const { sku_ids } = await insertProduct(bench.database, { stocks: [0, 0] });
    const [a, b] = sku_ids as [number, number];
    const { S1 } = await stockWarehouses(sql, { S1: { [a]: 5, [b]: 5 } });
    const lines = [
      { sku_id: a, qty: 2 },
      { sku_id: b, qty: 1 },
      { sku_id: a, qty: 3 },
    ];
    const outcome = await sql.begin(async (tx) => {
      const hold = await provider().openStockSession(tx, [a, b]);
      const reserved = hold.reserve({ biz_no: 'D1', lines, expires_at: new Date(Date.now() + 60_000) });
      for (const statement of hold.statements()) await statement;
      return reserved;
    });
    const warehouse = name === 'builtin_wms' ? S1! : 0;
    expect(outcome).toEqual({ ok: true, warehouse_ids: [warehouse, warehouse, warehouse] });
    expect(
      plain(
        await sql`select biz_type, biz_no, sku_id, warehouse_id, qty, status from inventory.inventory_reservation order by sku_id`,
      ),
    ).toEqual([
      { biz_type: 'order', biz_no: 'D1', sku_id: a, warehouse_id: warehouse, qty: 5, status: 'reserved' },
      { biz_type: 'order', biz_no: 'D1', sku_id: b, warehouse_id: warehouse, qty: 1, status: 'reserved' },
    ]);
    if (name === 'external_wms') {
      await bench.worker().deliver();
      expect(JSON.parse(bench.partner.calls[0]!.body.toString())).toMatchObject({
        items: [
          { sku_id: a, qty: 5 },
          { sku_id: b, qty: 1 },
        ],
      });
    }
    await sql`truncate inventory.inventory_stock, inventory.stock_movements`;
    await sql`delete from catalog.product_skus`;
  });

  test('a confirmed order cannot be released, and a released one not confirmed: builtin_wms', async () => {
    const { sql } = bench;
    const { sku_ids } = await insertProduct(bench.database, { stocks: [0] });
    const a = sku_ids[0]!;
    await stockWarehouses(sql, { S2: { [a]: 5 } });
    const run = (send: (tx: Transaction) => readonly PromiseLike<unknown>[]) =>
      sql.begin(async (tx) => {
        for (const statement of send(tx)) await statement;
      });
    for (const biz_no of ['E1', 'E2'])
      await sql.begin(async (tx) => {
        const hold = await builtinProvider.openStockSession(tx, [a]);
        hold.reserve({ biz_no, lines: [{ sku_id: a, qty: 1 }], expires_at: new Date(Date.now() + 60_000) });
        for (const statement of hold.statements()) await statement;
      });
    await run((tx) => builtinProvider.confirm(tx, ['E1']));
    await run((tx) => builtinProvider.release(tx, ['E2'], 'user_cancel'));
    const levels = async () =>
      plain(await sql`select qty, reserved_qty from inventory.inventory_stock where sku_id = ${a}`);
    for (const again of ['E1', 'E2'])
      for (const phase of ['confirm', 'release'] as const)
        await expect(run((tx) => builtinProvider[phase](tx, [again], 'user_cancel'))).rejects.toThrow(
          'no open reservation',
        );
    expect(await levels()).toEqual([{ qty: 4, reserved_qty: 0 }]);
    await sql`truncate inventory.inventory_stock, inventory.stock_movements`;
    await sql`delete from catalog.product_skus`;
  });
});

describe.each(['local', 'builtin_wms'] as const)('the stock ledger of an order: %s', (provider) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({}, { 'inventory.provider': provider });
  });
  afterAll(() => shop?.close());

  test('reservation and state follow the order through all operations', async () => {
    const { sql } = shop.database;
    const { sku_ids } = await insertProduct(shop.database, { stocks: [9] });
    const sku_id = sku_ids[0]!;
    if (provider === 'builtin_wms') await stockWarehouses(sql, { MAIN2: { [sku_id]: 9 } });
    const ann = await shop.shopper();
    const post = (path: string, body?: object) => shop.call('POST', path, { token: ann.token, body });
    const placed = async () => {
      await post('/api/v1/cart/add', { sku_id, qty: 2 });
      const { data } = await post('/api/v1/orders', { address_id: ann.address_id, sku_ids: [sku_id] });
      return data;
    };
    const ledgerOf = async (order_no: string) =>
      plain(
        await sql`
          select r.biz_type, r.sku_id, r.qty, r.status as reservation, s.provider, s.status as state, s.last_error,
            o.inventory_status
          from inventory.inventory_reservation r join inventory.order_inventory_state s on s.order_no = r.biz_no
          join orders.orders o using (order_no) where r.biz_no = ${order_no}`,
      );
    const row = (status: string) => [
      {
        ...{ biz_type: 'order', sku_id, qty: 2, reservation: status, provider, state: status, last_error: '' },
        inventory_status: status,
      },
    ];
    const [bought, cancelled] = [await placed(), await placed()];
    expect(await ledgerOf(bought.order_no)).toEqual(row('reserved'));
    await post(`/api/v1/orders/${bought.id}/pay`);
    expect(await ledgerOf(bought.order_no)).toEqual(row('confirmed'));
    await post(`/api/v1/orders/${cancelled.id}/cancel`);
    expect(await ledgerOf(cancelled.order_no)).toEqual(row('released'));
    // No operation runs twice, and none after the end.
    for (const [id, verb] of [
      [bought.id, 'cancel'],
      [bought.id, 'pay'],
      [cancelled.id, 'pay'],
      [cancelled.id, 'cancel'],
    ])
      expect((await post(`/api/v1/orders/${id}/${verb}`)).code).not.toBe(0);
    expect([...(await ledgerOf(bought.order_no)), ...(await ledgerOf(cancelled.order_no))]).toEqual([
      ...row('confirmed'),
      ...row('released'),
    ]);
    expect(await sql`select 1 from inventory.inventory_integration_tasks`, 'no task is written').toHaveLength(0);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });
});

test('staff see the reserved stock of a warehouse and all movements, page by page', async () => {
  const shop = await openShop({}, { 'inventory.provider': 'builtin_wms' });
  try {
    const { sql } = shop.database;
    const { sku_ids } = await insertProduct(shop.database, { stocks: Array(5).fill(0), title: 'Paged tray' });
    const [sku_id] = sku_ids as [number];
    const { P1 } = await stockWarehouses(sql, { P1: Object.fromEntries(sku_ids.map((id) => [id, 9])) });
    const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const wms = async (path: string) => (await shop.call('GET', `/admin/api/wms${path}`, { token: staff })).data;
    const ann = await shop.shopper();
    const post = (path: string, body?: object) => shop.call('POST', path, { token: ann.token, body });
    const numbers: string[] = [];
    for (const [qty, verb] of [
      [1, 'pay'],
      [2, 'cancel'],
      [3, null],
    ] as const) {
      await post('/api/v1/cart/add', { sku_id, qty });
      const { data } = await post('/api/v1/orders', { address_id: ann.address_id, sku_ids: [sku_id] });
      numbers.push(data.order_no);
      if (verb) await post(`/api/v1/orders/${data.id}/${verb}`);
    }
    const [row] = (await wms(`/stocks?sku_id=${sku_id}`)).list;
    expect(row).toMatchObject({ warehouse_id: P1, qty: 8, reserved_qty: 3, is_warning: false });
    // The warning compares the quantity on hand, not the sellable quantity.
    await shop.call('PUT', `/admin/api/wms/stocks/${row.id}/safety`, { token: staff, body: { safe_qty: 8 } });
    expect((await wms(`/stocks?sku_id=${sku_id}`)).list[0]).toMatchObject({ is_warning: false, warning_gap: 0 });

    const steps = async (query: string) =>
      (await wms(`/movements?sku_id=${sku_id}&${query}`)).list.map((step: Record<string, unknown>) => [
        ...[step.biz_type, step.change_qty, step.before_qty, step.after_qty, step.doc_id, step.doc_no],
      ]);
    expect(await steps(`doc_no=${numbers[0]}`)).toEqual([
      ['order_outbound', -1, 9, 8, 0, numbers[0]],
      ['reserve', 0, 9, 9, 0, numbers[0]],
    ]);
    expect(await steps(`doc_no=${numbers[1]}`)).toEqual([
      ['release', 0, 8, 8, 0, numbers[1]],
      ['reserve', 0, 8, 8, 0, numbers[1]],
    ]);
    for (const [biz_type, count] of [
      ['reserve', 3],
      ['release', 1],
      ['order_outbound', 1],
      ['inbound', 1],
      ['outbound', 0],
    ] as const)
      expect(await steps(`biz_type=${biz_type}`), biz_type).toHaveLength(count);

    for (let n = 0; n < 5; n += 1) {
      const body = { warehouse_id: P1, doc_type: 'inbound', items: [{ sku_id, qty: 1 }] };
      await shop.call('POST', '/admin/api/wms/docs', { token: staff, body });
    }
    for (const path of [`/stocks?warehouse_id=${P1}`, `/docs?warehouse_id=${P1}`, `/movements?sku_id=${sku_id}`]) {
      const all: { id: number }[] = (await wms(`${path}&size=100`)).list;
      expect(all.length).toBeGreaterThan(4);
      const ids = all.map(({ id }) => id);
      expect(ids, 'newest first').toEqual(ids.toSorted((a, b) => b - a));
      const turned: number[] = [];
      for (let page = 1; page <= Math.ceil(ids.length / 2) + 1; page += 1) {
        const answer = await wms(`${path}&page=${page}&size=2`);
        expect(answer).toMatchObject({ page, size: 2, total: ids.length });
        turned.push(...answer.list.map(({ id }: { id: number }) => id));
      }
      expect(turned).toEqual(ids);
    }
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  } finally {
    await shop.close();
  }
});

describe('the bytes that a partner receives', () => {
  let shop: Shop;
  let partner: Awaited<ReturnType<typeof startWarehouseServer>>;
  let ann: Awaited<ReturnType<Shop['shopper']>>;
  let staff: string;
  const settings = {
    'external_wms.retry.max_attempts': 2,
    'external_wms.retry.backoff_seconds': 1,
    'external_wms.timeout_ms': 1_000,
  };
  async function open(mode: 'sync' | 'async') {
    partner = await startWarehouseServer();
    shop = await openShop({ only: 'api,worker' }, externalSettings(partner.url, mode, settings));
    ann = await shop.shopper();
    staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  }
  const close = async () => {
    await shop?.close();
    await partner?.close();
  };
  const post = (path: string, body?: object) => shop.call('POST', path, { token: ann.token, body });
  const admin = (method: string, path: string, body?: object) =>
    shop.call(method, `/admin/api${path}`, { token: staff, body });
  const order = async (...skus: number[]) =>
    post('/api/v1/orders', { address_id: ann.address_id, items: skus.map((sku_id) => ({ sku_id })) });
  const tasks = async (biz_no: string) => (await admin('GET', `/inventory/tasks?biz_no=${biz_no}`)).data;
  const bodiesOf = (path: string, biz_no?: string) =>
    partner.calls
      .filter((call) => call.path === path)
      .map((call) => JSON.parse(call.body.toString()))
      .filter((body) => biz_no === undefined || body.biz_no === biz_no);
  const statusIs = (id: number, status: string) =>
    expect
      .poll(async () => (await shop.call('GET', `/api/v1/orders/${id}`, { token: ann.token })).data.inventory_status, {
        timeout: 15_000,
      })
      .toBe(status);
  const failing =
    (path: string, code: number): Behaviour =>
    (received, response) =>
      json({ code: received.path === path ? code : 0, message: 'no' })(received, response);

  describe('async', () => {
    beforeAll(() => open('async'));
    afterAll(close);
    beforeEach(() => {
      partner.behave = json({ code: 0 });
    });

    test('reserve, confirm and release have exactly the keys of the table', async () => {
      const { sku_ids } = await insertProduct(shop.database, { stocks: [0, 0] });
      const [a, b] = sku_ids as [number, number];
      await post('/api/v1/cart/add', { sku_id: b, qty: 3 });
      const { data: bought } = await order(a, b);
      await statusIs(bought.id, 'reserved');
      await post(`/api/v1/orders/${bought.id}/pay`);
      await statusIs(bought.id, 'confirmed');
      const { data: cancelled } = await order(a);
      await statusIs(cancelled.id, 'reserved');
      await post(`/api/v1/orders/${cancelled.id}/cancel`);
      await statusIs(cancelled.id, 'released');
      const of = (biz_no: string, action: string) => ({
        ...{ biz_type: 'order', biz_no, request_id: `order:${biz_no}:${action}` },
      });
      expect(bodiesOf('/reserve', bought.order_no)).toEqual([
        {
          ...of(bought.order_no, 'reserve'),
          items: [
            { sku_id: a, qty: 1 },
            { sku_id: b, qty: 3 },
          ],
        },
      ]);
      expect(bodiesOf('/confirm')).toEqual([of(bought.order_no, 'confirm')]);
      expect(bodiesOf('/release')).toEqual([{ ...of(cancelled.order_no, 'release'), reason: 'user_cancel' }]);
      // Each body is the payload of the task and the request_id.
      for (const task of await tasks(bought.order_no)) {
        const { request_id, ...payload } = bodiesOf(`/${task.action}`, bought.order_no)[0];
        expect(JSON.parse(task.payload)).toEqual(payload);
        expect(task.request_id).toBe(request_id);
      }
    });

    test('an unpaid order is released with the reason timeout', async () => {
      const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
      const { data: late } = await order(sku_ids[0]!);
      await statusIs(late.id, 'reserved');
      const { sql } = shop.database;
      await sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${late.id}`;
      await sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
      await statusIs(late.id, 'released');
      expect(bodiesOf('/release', late.order_no)).toMatchObject([{ reason: 'timeout' }]);
    });

    test('deduct, restore, sync-sku and sellable have exactly the keys of the table', async () => {
      const product = { title: 'Jug', price: 12, stock: 33, status: 1 };
      const { data: made } = await admin('POST', '/products', { product });
      const [sku] = (await admin('GET', `/products/${made.id}`)).data.skus;
      await expect.poll(() => bodiesOf('/sync-sku').length, { timeout: 10_000 }).toBe(1);
      const [sync] = bodiesOf('/sync-sku');
      expect(sync).toEqual({
        ...{
          biz_type: 'sku',
          biz_no: expect.stringMatching(new RegExp(`^${sku.id}-\\w+$`)),
          sku_id: sku.id,
          stock: 33,
        },
        request_id: `sku:${sync.biz_no}:sync_sku`,
      });

      const { data: warehouse } = await admin('POST', '/wms/warehouses', { code: 'W1', name: 'One' });
      for (const [doc_type, path, action] of [
        ['inbound', '/restore', 'restore'],
        ['outbound', '/deduct', 'deduct'],
      ] as const) {
        const items = [
          { sku_id: sku.id, qty: 2, remark: 'a' },
          { sku_id: sku.id, qty: 3, remark: 'b' },
        ];
        const { data: doc } = await admin('POST', '/wms/docs', {
          warehouse_id: warehouse.id,
          doc_type,
          remark: 'r',
          items,
        });
        await admin('POST', `/wms/docs/${doc.id}/complete`);
        await expect.poll(() => bodiesOf(path).length, { timeout: 10_000 }).toBe(1);
        expect(bodiesOf(path)).toEqual([
          {
            ...{ biz_type: 'document', biz_no: doc.doc_no, items: [{ sku_id: sku.id, qty: 5 }] },
            ...(action === 'restore' ? { reason: 'inbound_document' } : {}),
            request_id: `document:${doc.doc_no}:${action}`,
          },
        ]);
      }

      partner.behave = json({ code: 0, data: [{ sku_id: sku.id, sellable_stock: 4, reserved: 1, on_hand: 5 }] });
      const shown = (await shop.call('GET', `/api/v1/products/${made.id}`)).data;
      expect(shown.skus.map((one: { stock: number }) => one.stock)).toEqual([4]);
      expect(bodiesOf('/stock/sellable')).toEqual([{ sku_ids: [sku.id], request_id: expect.any(String) }]);
    });

    test('an order is pending while the partner is busy, after placing, paying and cancelling; then it is failed', async () => {
      const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
      const one = sku_ids[0]!;
      partner.behave = json({ code: 1001, message: 'busy' });
      const placed = (await order(one)).data;
      expect(placed.inventory_status).toBe('pending');
      await statusIs(placed.id, 'failed');
      const [reserve] = await tasks(placed.order_no);
      // A task has the attempts and the back-off of the settings at the time when it is written.
      expect(reserve).toMatchObject({
        ...{
          status: 'failed',
          attempt_count: 2,
          max_attempts: 2,
          backoff_seconds: 1,
          last_code: 1001,
          last_error: 'busy',
        },
      });
      partner.behave = json({ code: 0 });
      for (const verb of ['pay', 'cancel'] as const) {
        const { data } = await order(one);
        await statusIs(data.id, 'reserved');
        const action = verb === 'pay' ? 'confirm' : 'release';
        partner.behave = failing(`/${action}`, 5000);
        await post(`/api/v1/orders/${data.id}/${verb}`);
        const path = `/api/v1/orders/${data.id}`;
        expect((await shop.call('GET', path, { token: ann.token })).data.inventory_status).toBe('pending');
        await statusIs(data.id, 'failed');
        const [state] = await shop.database.sql`
          select provider, status, last_error from inventory.order_inventory_state where order_no = ${data.order_no}`;
        expect({ ...state }).toEqual({ provider: 'external_wms', status: 'failed', last_error: 'no' });
        partner.behave = json({ code: 0 });
        // A retry by an operator succeeds.
        const [task] = await tasks(data.order_no);
        expect((await admin('POST', `/inventory/tasks/${task.id}/retry`)).data).toEqual({ retried: task.id });
        await statusIs(data.id, verb === 'pay' ? 'confirmed' : 'released');
      }
    });

    test('the list of tasks is an array with every field; the payload is JSON text', async () => {
      const { data } = await admin('GET', '/inventory/tasks');
      expect(data.length).toBeGreaterThan(5);
      for (const task of data)
        expectFields(
          task,
          'id i, provider s, biz_type s, biz_no s, action s, request_id s, payload json, status s, attempt_count i, ' +
            'max_attempts i, backoff_seconds i, next_retry_at t, last_error s, lock_owner s|null, ' +
            'lock_expires_at t|null, completed_at t|null, last_callback_id s|null',
        );
    });

    test('signature_ttl limits the timestamp of a callback in both directions, to the second', async () => {
      await shop.server.runtime.settings.setMany({
        'external_wms.signature_ttl': 20,
        'external_wms.callback_enabled': true,
      });
      const at = (offset: number) =>
        sendCallback(
          shop,
          { request_id: 'order:none:reserve', status: 'success' },
          { timestamp: String(Math.floor(Date.now() / 1000) + offset) },
        );
      // Within the window the callback is accepted, and its task is unknown.
      for (const offset of [-19, 0, 19]) expect(await at(offset), String(offset)).toMatchObject({ code: 500 });
      for (const offset of [-22, 23, -300])
        expect(await at(offset), String(offset)).toMatchObject({
          ...{ status: 200, code: 400, message: expect.stringMatching(/^timestamp: /) },
        });
      await shop.server.runtime.settings.setMany({ 'external_wms.signature_ttl': 400 });
      expect(await at(-390)).toMatchObject({ code: 500 });
      await shop.server.runtime.settings.setMany({
        'external_wms.signature_ttl': 300,
        'external_wms.callback_enabled': false,
      });
    });

    test('a callback needs no token and no permission, and answers { received: true }', async () => {
      const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
      await shop.server.runtime.settings.set('external_wms.callback_enabled', true);
      const { data } = await order(sku_ids[0]!);
      const request_id = `order:${data.order_no}:reserve`;
      await expect.poll(async () => (await tasks(data.order_no))[0].accepted_at, { timeout: 10_000 }).not.toBeNull();
      expect((await tasks(data.order_no))[0]).toMatchObject({ status: 'processing', completed_at: null });
      expect(
        await sendCallback(shop, { request_id, callback_id: 'cb-77', status: 'failed', message: 'damaged' }),
      ).toMatchObject({
        ...{ status: 200, code: 0, data: { received: true } },
      });
      await statusIs(data.id, 'failed');
      const [task] = await tasks(data.order_no);
      expect(task).toMatchObject({ status: 'failed', last_error: 'damaged', last_callback_id: 'cb-77' });
      for (const status of ['success', 'processing'])
        expect((await sendCallback(shop, { request_id, status })).data).toEqual({ received: true });
      expect((await tasks(data.order_no))[0]).toEqual(task);
      await shop.server.runtime.settings.set('external_wms.callback_enabled', false);
    });

    test('afterwards nothing is open', async () => {
      expect(
        await shop.database.sql`
        select 1 from inventory.inventory_integration_tasks where status in ('pending', 'processing')`,
      ).toHaveLength(0);
    });
  });

  describe('sync', () => {
    beforeAll(() => open('sync'));
    afterAll(close);

    test.each([
      ...[1001, 1002, 1003, 2001, 5000, 5001, 5002].map((code) => [code, true] as const),
      ...[4001, 4002, 4003, 4004, 4711].map((code) => [code, false] as const),
    ])('code %i refuses the order; whether it may be held all the same: %s', async (code, unsure) => {
      partner.behave = failing('/reserve', code);
      const { sku_ids } = await insertProduct(shop.database, { stocks: [5] });
      const before = partner.calls.length;
      const refused = await order(sku_ids[0]!);
      partner.behave = json({ code: 0 });
      expect(refused).toMatchObject({ code: 20001, data: null });
      expect(refused.message).toBe(
        unsure
          ? 'The warehouse is busy or does not answer: please try again'
          : 'The warehouse refuses the reservation: no',
      );
      expect(partner.calls.length - before, 'called once, because the shopper waits').toBe(1);
      const { biz_no } = JSON.parse(partner.calls.at(-1)!.body.toString());
      const { sql } = shop.database;
      expect(await sql`select 1 from orders.orders where order_no = ${biz_no}`).toHaveLength(0);
      expect(await sql`select 1 from inventory.inventory_reservation where biz_no = ${biz_no}`).toHaveLength(0);
      expect(
        plain(
          await sql`
          select action, mode, status, attempt_count, last_code, last_error, payload->>'reason' as reason
          from inventory.inventory_integration_tasks where biz_no = ${biz_no} order by id`,
        ),
      ).toEqual([
        ...[
          {
            action: 'reserve',
            mode: 'sync',
            status: 'failed',
            attempt_count: 1,
            last_code: code,
            last_error: 'no',
            reason: null,
          },
        ],
        ...(unsure
          ? [
              {
                action: 'release',
                mode: 'sync',
                status: 'pending',
                attempt_count: 0,
                last_code: null,
                last_error: '',
                reason: 'reserve_failed',
              },
            ]
          : []),
      ]);
    });

    test('reserve is sent before the order is written, and pay and cancel send confirm and release with the same fields', async () => {
      const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
      const one = sku_ids[0]!;
      const { sql } = shop.database;
      const there: number[] = [];
      partner.behave = (received, response) => {
        const { biz_no } = JSON.parse(received.body.toString());
        void sql`select 1 from orders.orders where order_no = ${biz_no}`.then((rows) => {
          there.push(rows.length);
          json({ code: 0 })(received, response);
        });
      };
      const { data } = await order(one);
      expect(there).toEqual([0]);
      const { data: other } = await order(one);
      await post(`/api/v1/orders/${data.id}/pay`);
      await post(`/api/v1/orders/${other.id}/cancel`);
      expect([
        ...bodiesOf('/reserve', data.order_no),
        ...bodiesOf('/confirm', data.order_no),
        ...bodiesOf('/release', other.order_no),
      ]).toEqual([
        {
          biz_type: 'order',
          biz_no: data.order_no,
          items: [{ sku_id: one, qty: 1 }],
          request_id: `order:${data.order_no}:reserve`,
        },
        { biz_type: 'order', biz_no: data.order_no, request_id: `order:${data.order_no}:confirm` },
        {
          biz_type: 'order',
          biz_no: other.order_no,
          reason: 'user_cancel',
          request_id: `order:${other.order_no}:release`,
        },
      ]);
      expect(partner.calls.at(-1)!.headers['x-app-key']).toBe(keys.appKey);
    });
  });
});
