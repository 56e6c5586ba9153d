import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@tradepost/app';
import { loadConfig, openLog } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { type Answer, call } from '@tradepost/testing/client';
import { externalSettings, ledgerDifferences, warehouseAccount } from '@tradepost/testing/external-shop';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct, instantPayment, storeSettings } from '@tradepost/testing/shop';
import { openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/**
 * A provider migration is a changed setting and a restart. The stock, the reservations of open orders and their remaining steps
 * are moved without a difference of one piece.
 */
let database: TestDatabase;
let simulator: Simulator;
let server: Server | null = null;
let data: string;
let buyer: { token: string; address_id: number };

async function restart(settings: Readonly<Record<string, unknown>>): Promise<void> {
  await server?.stop();
  server = null;
  await storeSettings(database, { ...instantPayment, ...settings });
  const { config } = loadConfig({
    env: {},
    flags: { databaseUrl: database.url, data, port: 0, seed: 'none', only: 'api,worker', databasePool: 8 },
  });
  server = await startServer({ config, log: openLog({ level: 'silent' }) });
  const [row] = await database.sql<{ user_id: number; id: number }[]>`
    with made as (insert into identity.shoppers (nickname) values ('Ann') returning id)
    insert into identity.addresses (user_id, name, phone, is_default) select id, 'Ann', '13800000000', true from made returning user_id, id`;
  buyer ??= {
    token: await server.tokens.issue({ role: 'user', id: row!.user_id, perms: [] }),
    address_id: row!.id,
  };
}
const post = (path: string, body?: object): Promise<Answer> =>
  call(server!.transport!.url, server!.routes, 'POST', path, { token: buyer.token, body });
async function order(sku_id: number, qty = 1): Promise<Answer['data']> {
  await post('/api/v1/cart/add', { sku_id, qty });
  const {
    code,
    message,
    data: placed,
  } = await post('/api/v1/orders', {
    address_id: buyer.address_id,
    sku_ids: [sku_id],
  });
  if (code !== 0) throw new Error(message);
  return placed;
}
const codeOf = async (id: number, action: 'pay' | 'cancel') => (await post(`/api/v1/orders/${id}/${action}`)).code;
const stateOf = async (id: number) => {
  const [row] = await database.sql`
    select o.inventory_status, s.provider from orders.orders o join inventory.order_inventory_state s using (order_no)
    where o.id = ${id}`;
  return `${row!.provider} ${row!.inventory_status}`;
};
const skuOf = async (sku: number) => {
  const [row] = await database.sql`select stock, reserved_stock, sold from catalog.product_skus where id = ${sku}`;
  return Object.values(row!);
};
const warehouseStock = async () =>
  (
    await database.sql`
      select w.code, s.sku_id, s.qty, s.reserved_qty from inventory.inventory_stock s
      join inventory.warehouses w on w.id = s.warehouse_id where s.qty > 0 order by w.id, s.sku_id`
  ).map((row) => Object.values(row));

beforeEach(async () => {
  database = await cloneDatabase();
  data = await mkdtemp(join(tmpdir(), 'tradepost-migration-'));
  simulator = await openSimulator(warehouseAccount);
});
afterEach(async () => {
  await server?.stop();
  server = null;
  buyer = undefined as never;
  await simulator.close();
  expect(await auditViolations(database.sql)).toEqual([]);
  await database.drop();
  await rm(data, { recursive: true, force: true });
});

test('a migration to warehouses and back keeps the stock, and open orders can be paid and cancelled', async () => {
  const { sku_ids } = await insertProduct(database, { stocks: [10, 3] });
  const [a, b] = sku_ids as [number, number];
  await restart({});
  const [paidLater, cancelledLater] = [await order(a, 4), await order(b, 2)];
  await restart({ 'inventory.provider': 'builtin_wms' });
  expect(await warehouseStock()).toEqual([
    ['MAIN', a, 10, 4],
    ['MAIN', b, 3, 2],
  ]);
  expect(await skuOf(a)).toEqual([10, 4, 0]);
  expect(await codeOf(paidLater.id, 'pay')).toBe(0);
  expect(await stateOf(paidLater.id)).toBe('builtin_wms confirmed');
  expect(await warehouseStock()).toEqual([
    ['MAIN', a, 6, 0],
    ['MAIN', b, 3, 2],
  ]);
  const third = await order(a, 5);
  expect(await auditViolations(database.sql)).toEqual([]);

  await restart({ 'inventory.provider': 'local' });
  expect(await skuOf(a)).toEqual([6, 5, 4]);
  expect(await codeOf(third.id, 'pay')).toBe(0);
  expect(await codeOf(cancelledLater.id, 'cancel')).toBe(0);
  expect([await stateOf(third.id), await stateOf(cancelledLater.id)]).toEqual(['local confirmed', 'local released']);
  expect(await skuOf(a)).toEqual([1, 0, 9]);

  // A second migration to warehouses adjusts their stock to the sales in between.
  await restart({ 'inventory.provider': 'wms' });
  expect(await warehouseStock()).toEqual([
    ['MAIN', a, 1, 0],
    ['MAIN', b, 3, 0],
  ]);
  const documents =
    await database.sql`select doc_type from inventory.stock_documents where biz_type = 'takeover' order by id`;
  expect(documents.map((row) => row.doc_type)).toEqual(['inbound', 'outbound']);
});

test('stock that is in a warehouse before the migration stays there, and only the difference is added', async () => {
  const { sku_ids } = await insertProduct(database, { stocks: [10] });
  await restart({});
  const staff = await server!.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const admin = async (path: string, body?: object) =>
    (await call(server!.transport!.url, server!.routes, 'POST', path, { token: staff, body })).data;
  const { id } = await admin('/admin/api/wms/warehouses', { code: 'EAST', name: 'East' });
  const items = [{ sku_id: sku_ids[0], qty: 7, remark: '' }];
  const doc = await admin('/admin/api/wms/docs', { warehouse_id: id, doc_type: 'inbound', remark: '', items });
  await admin(`/admin/api/wms/docs/${doc.id}/complete`);
  expect(await skuOf(sku_ids[0]!)).toEqual([10, 0, 0]);
  await restart({ 'inventory.provider': 'builtin_wms' });
  expect(await warehouseStock()).toEqual([['EAST', sku_ids[0], 10, 0]]);
});

describe.each(['local', 'builtin_wms'])('a migration from %s to an external warehouse and back', (ownProvider) => {
  test('confirms and releases every order at the provider that reserved it', async () => {
    const { sku_ids } = await insertProduct(database, { stocks: [10] });
    const sku = sku_ids[0]!;
    await restart({ 'inventory.provider': ownProvider });
    const [ownPaid, ownCancelled] = [await order(sku, 2), await order(sku, 1)];
    await restart(externalSettings(simulator.url, 'async'));
    const [externalPaid, externalCancelled] = [await order(sku, 3), await order(sku, 1)];
    expect([externalPaid.inventory_status, await codeOf(ownPaid.id, 'pay')]).toEqual(['pending', 0]);
    expect(await stateOf(ownPaid.id)).toBe('local confirmed');
    expect(await skuOf(sku)).toEqual([8, 1, 2]);
    expect(simulator.seen(`order:${ownPaid.order_no}:confirm`)).toBe(0);

    await restart({ ...externalSettings(simulator.url, 'async'), 'inventory.provider': ownProvider });
    expect(await codeOf(externalPaid.id, 'pay')).toBe(0);
    expect(await codeOf(externalCancelled.id, 'cancel')).toBe(0);
    expect(await codeOf(ownCancelled.id, 'cancel')).toBe(0);
    await expect.poll(() => stateOf(externalPaid.id), { timeout: 15_000 }).toBe('external_wms confirmed');
    await expect.poll(() => stateOf(externalCancelled.id), { timeout: 15_000 }).toBe('external_wms released');
    expect(await stateOf(ownCancelled.id)).toBe(`${ownProvider} released`);
    expect(await skuOf(sku)).toEqual([8, 0, 5]);
    expect(await ledgerDifferences(database.sql, simulator)).toEqual([]);
  });
});

test('after a migration a process that was not restarted cannot change stock, and the restarted ones work on', async () => {
  const { sku_ids } = await insertProduct(database, { stocks: [10] });
  await restart({});
  const openOrder = await order(sku_ids[0]!, 2);
  const staff = await server!.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const admin = (method: string, path: string, body?: object) =>
    call(server!.transport!.url, server!.routes, method, path, { token: staff, body });
  const warehouse = await admin('POST', '/admin/api/wms/warehouses', { code: 'MAIN', name: 'Main' });
  const items = [{ sku_id: sku_ids[0], qty: 7, remark: '' }];
  const draft = { warehouse_id: warehouse.data.id, doc_type: 'inbound', remark: '', items };
  const doc = await admin('POST', '/admin/api/wms/docs', draft);
  const oldServer = server!;
  server = null;
  try {
    await restart({ 'inventory.provider': 'builtin_wms' });
    const newServer = server!;
    server = oldServer;
    const late = await post('/api/v1/orders', { address_id: buyer.address_id, items: [{ sku_id: sku_ids[0] }] });
    expect([late.status, await codeOf(openOrder.id, 'pay'), await codeOf(openOrder.id, 'cancel')]).toEqual([
      503, 503, 503,
    ]);
    const complete = await admin('POST', `/admin/api/wms/docs/${doc.data.id}/complete`);
    const disable = await admin('PUT', `/admin/api/wms/warehouses/${warehouse.data.id}/status`, { status: 0 });
    expect([complete.status, disable.status]).toEqual([503, 503]);
    server = newServer;
    expect((await order(sku_ids[0]!)).inventory_status).toBe('reserved');
    expect(await codeOf(openOrder.id, 'pay')).toBe(0);
    expect(await warehouseStock()).toEqual([['MAIN', sku_ids[0], 8, 1]]);
  } finally {
    await oldServer.stop();
  }
});

test('processes that start at the same time migrate the stock once', async () => {
  await insertProduct(database, { stocks: [10, 20] });
  await storeSettings(database, { 'inventory.provider': 'builtin_wms' });
  const folders = await Promise.all([0, 1, 2].map(() => mkdtemp(join(tmpdir(), 'tradepost-migration-'))));
  const servers = await Promise.all(
    folders.map((folder) => {
      const { config } = loadConfig({
        env: {},
        flags: { databaseUrl: database.url, data: folder, port: 0, seed: 'none', only: 'api', databasePool: 4 },
      });
      return startServer({ config, log: openLog({ level: 'silent' }) });
    }),
  );
  expect((await warehouseStock()).map((row) => row.slice(2))).toEqual([
    [10, 0],
    [20, 0],
  ]);
  for (const one of servers) await one.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describe('an invalid configuration is refused at start with the reason', () => {
  const refusal = (settings: Readonly<Record<string, unknown>>) =>
    restart(settings).then(
      () => 'started',
      (error: Error) => error.message,
    );
  test.each(['external_wms.endpoint', 'external_wms.app_key', 'external_wms.app_secret'])(
    '%s is missing',
    async (key) => {
      expect(await refusal({ ...externalSettings(simulator.url, 'async'), [key]: '' })).toContain(`${key}: `);
    },
  );
  test('an empty value, as of an unset shell variable, is refused; a setting that needs a restart says so', async () => {
    const set = (key: string, value: string) =>
      runCommandInProcess(['settings', 'set', key, value, '--database-url', database.url]);
    const empty = await set('inventory.provider', '');
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('inventory.provider: the value is empty')]);
    expect((await set('inventory.provider', 'builtin_wms')).stdout).toContain('restart');
    expect((await set('external_wms.timeout_ms', '900')).stdout).not.toContain('restart');
  });
  test('all missing settings are named in one message', async () => {
    const message = await refusal({ 'inventory.provider': 'external_wms' });
    for (const key of ['endpoint', 'app_key', 'app_secret']) expect(message).toContain(`external_wms.${key}`);
  });
});
