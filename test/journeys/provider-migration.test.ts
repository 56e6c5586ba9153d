import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@tradepost/app';
import { loadConfig, openLog } from '@tradepost/runtime';
import { type Answer, call } from '@tradepost/testing/client';
import { externalSettings, ledgerDifferences, partner } from '@tradepost/testing/external-shop';
import { invariantErrors } from '@tradepost/testing/invariants';
import { runHere } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct, instantPayment, storeSettings } from '@tradepost/testing/shop';
import { openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/**
 * Another provider is a setting and a restart: what is in stock, what open orders hold and what they still have to do goes
 * along, to the piece.
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
const act = async (id: number, verb: 'pay' | 'cancel') => (await post(`/api/v1/orders/${id}/${verb}`)).code;
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
const shelves = async () =>
  (
    await database.sql`
      select w.code, s.sku_id, s.qty, s.reserved_qty from inventory.inventory_stock s
      join inventory.warehouses w on w.id = s.warehouse_id where s.qty > 0 order by w.id, s.sku_id`
  ).map((row) => Object.values(row));

beforeEach(async () => {
  database = await cloneDatabase();
  data = await mkdtemp(join(tmpdir(), 'tradepost-switch-'));
  simulator = await openSimulator(partner);
});
afterEach(async () => {
  await server?.stop();
  server = null;
  buyer = undefined as never;
  await simulator.close();
  expect(await invariantErrors(database)).toEqual([]);
  await database.drop();
  await rm(data, { recursive: true, force: true });
});

test('from SKUs into warehouses and back: stock, open orders and their end', async () => {
  const { sku_ids } = await insertProduct(database, { stocks: [10, 3] });
  const [a, b] = sku_ids as [number, number];
  await restart({});
  const [paidLater, cancelledLater] = [await order(a, 4), await order(b, 2)];
  await restart({ 'inventory.provider': 'builtin_wms' });
  expect(await shelves()).toEqual([
    ['MAIN', a, 10, 4],
    ['MAIN', b, 3, 2],
  ]);
  expect(await skuOf(a)).toEqual([10, 4, 0]);
  expect(await act(paidLater.id, 'pay')).toBe(0);
  expect(await stateOf(paidLater.id)).toBe('builtin_wms confirmed');
  expect(await shelves()).toEqual([
    ['MAIN', a, 6, 0],
    ['MAIN', b, 3, 2],
  ]);
  const third = await order(a, 5);
  expect(await invariantErrors(database)).toEqual([]);

  await restart({ 'inventory.provider': 'local' });
  expect(await skuOf(a)).toEqual([6, 5, 4]);
  expect(await act(third.id, 'pay')).toBe(0);
  expect(await act(cancelledLater.id, 'cancel')).toBe(0);
  expect([await stateOf(third.id), await stateOf(cancelledLater.id)]).toEqual(['local confirmed', 'local released']);
  expect(await skuOf(a)).toEqual([1, 0, 9]);

  // And in again: the shelves follow what was sold meanwhile.
  await restart({ 'inventory.provider': 'wms' });
  expect(await shelves()).toEqual([
    ['MAIN', a, 1, 0],
    ['MAIN', b, 3, 0],
  ]);
  const documents =
    await database.sql`select doc_type from inventory.stock_documents where biz_type = 'takeover' order by id`;
  expect(documents.map((row) => row.doc_type)).toEqual(['inbound', 'outbound']);
});

test('what was put on shelves before the switch stays there; only the difference comes in', async () => {
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
  expect(await shelves()).toEqual([['EAST', sku_ids[0], 10, 0]]);
});

describe.each(['local', 'builtin_wms'])('from %s to a partner and back', (own) => {
  test('every order is settled where it was reserved', async () => {
    const { sku_ids } = await insertProduct(database, { stocks: [10] });
    const sku = sku_ids[0]!;
    await restart({ 'inventory.provider': own });
    const [here, hereToo] = [await order(sku, 2), await order(sku, 1)];
    await restart(externalSettings(simulator.url, 'async'));
    const [there, thereToo] = [await order(sku, 3), await order(sku, 1)];
    expect([there.inventory_status, await act(here.id, 'pay')]).toEqual(['pending', 0]);
    expect(await stateOf(here.id)).toBe('local confirmed');
    expect(await skuOf(sku)).toEqual([8, 1, 2]);
    expect(simulator.seen(`order:${here.order_no}:confirm`)).toBe(0);

    await restart({ ...externalSettings(simulator.url, 'async'), 'inventory.provider': own });
    expect(await act(there.id, 'pay')).toBe(0);
    expect(await act(thereToo.id, 'cancel')).toBe(0);
    expect(await act(hereToo.id, 'cancel')).toBe(0);
    await expect.poll(() => stateOf(there.id), { timeout: 15_000 }).toBe('external_wms confirmed');
    await expect.poll(() => stateOf(thereToo.id), { timeout: 15_000 }).toBe('external_wms released');
    expect(await stateOf(hereToo.id)).toBe(`${own} released`);
    expect(await skuOf(sku)).toEqual([8, 0, 5]);
    expect(await ledgerDifferences(database.sql, simulator)).toEqual([]);
  });
});

test('a process that was not restarted can not touch stock whose books were taken over; the others go on', async () => {
  const { sku_ids } = await insertProduct(database, { stocks: [10] });
  await restart({});
  const open = await order(sku_ids[0]!, 2);
  const staff = await server!.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const admin = (method: string, path: string, body?: object) =>
    call(server!.transport!.url, server!.routes, method, path, { token: staff, body });
  const warehouse = await admin('POST', '/admin/api/wms/warehouses', { code: 'MAIN', name: 'Main' });
  const items = [{ sku_id: sku_ids[0], qty: 7, remark: '' }];
  const draft = { warehouse_id: warehouse.data.id, doc_type: 'inbound', remark: '', items };
  const doc = await admin('POST', '/admin/api/wms/docs', draft);
  const old = server!;
  server = null;
  try {
    await restart({ 'inventory.provider': 'builtin_wms' });
    const here = server!;
    server = old;
    const late = await post('/api/v1/orders', { address_id: buyer.address_id, items: [{ sku_id: sku_ids[0] }] });
    expect([late.status, await act(open.id, 'pay'), await act(open.id, 'cancel')]).toEqual([503, 503, 503]);
    const complete = await admin('POST', `/admin/api/wms/docs/${doc.data.id}/complete`);
    const disable = await admin('PUT', `/admin/api/wms/warehouses/${warehouse.data.id}/status`, { status: 0 });
    expect([complete.status, disable.status]).toEqual([503, 503]);
    server = here;
    expect((await order(sku_ids[0]!)).inventory_status).toBe('reserved');
    expect(await act(open.id, 'pay')).toBe(0);
    expect(await shelves()).toEqual([['MAIN', sku_ids[0], 8, 1]]);
  } finally {
    await old.stop();
  }
});

test('two processes that start together on a shop that changes take the books over once', async () => {
  await insertProduct(database, { stocks: [10, 20] });
  await storeSettings(database, { 'inventory.provider': 'builtin_wms' });
  const folders = await Promise.all([0, 1, 2].map(() => mkdtemp(join(tmpdir(), 'tradepost-switch-'))));
  const servers = await Promise.all(
    folders.map((folder) => {
      const { config } = loadConfig({
        env: {},
        flags: { databaseUrl: database.url, data: folder, port: 0, seed: 'none', only: 'api', databasePool: 4 },
      });
      return startServer({ config, log: openLog({ level: 'silent' }) });
    }),
  );
  expect((await shelves()).map((row) => row.slice(2))).toEqual([
    [10, 0],
    [20, 0],
  ]);
  for (const one of servers) await one.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describe('a configuration that can not work is refused at start, with its reason', () => {
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
  test('a variable that a shell does not know changes nothing, and what needs a restart says so', async () => {
    const set = (key: string, value: string) =>
      runHere(['settings', 'set', key, value, '--database-url', database.url]);
    const empty = await set('inventory.provider', '');
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('inventory.provider: the value is empty')]);
    expect((await set('inventory.provider', 'builtin_wms')).stdout).toContain('restart');
    expect((await set('external_wms.timeout_ms', '900')).stdout).not.toContain('restart');
  });
  test('all that is missing is told at once', async () => {
    const message = await refusal({ 'inventory.provider': 'external_wms' });
    for (const key of ['endpoint', 'app_key', 'app_secret']) expect(message).toContain(`external_wms.${key}`);
  });
});
