import { modules } from '@tradepost/app';
import type { Module } from '@tradepost/module';
import { externalSettings } from '@tradepost/testing/external-shop';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct } from '@tradepost/testing/shop';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type InventoryProvider,
  insertRemoteReservations,
  inventoryProviders,
  type ReservationRow,
  settleRemoteReservations,
  summedItems,
} from '../index.ts';

/**
 * A module adds an inventory provider to `inventoryProviders`. Orders are reserved with it, and settled by it after a change of the
 * provider. No other code knows its name.
 */
let database: TestDatabase;
let shop: ModuleShop | null = null;
let buyer: Awaited<ReturnType<ModuleShop['shopper']>>;
let confirmed: string[];
let released: string[];

/** A provider of another package. It records its calls in variables; its reservations are in the ledger of inventory. */
const depot: InventoryProvider = {
  name: 'depot',
  statusAfter: { reserve: 'reserved', confirm: 'pending', release: 'pending' },
  async openStockSession(tx) {
    const rows: ReservationRow[] = [];
    return {
      reserve({ biz_no, lines, expires_at }) {
        for (const item of summedItems(lines)) rows.push({ biz_no, ...item, expires_at });
        return { ok: true, warehouse_ids: lines.map(() => 0) };
      },
      releaseDemand() {},
      statements: () =>
        rows.length > 0 ? [insertRemoteReservations(tx, rows, { provider: 'depot', status: 'reserved' })] : [],
    };
  },
  confirm(tx, bizNos) {
    confirmed.push(...bizNos);
    return [settleRemoteReservations(tx, bizNos, 'confirmed')];
  },
  release(tx, bizNos) {
    released.push(...bizNos);
    return [settleRemoteReservations(tx, bizNos, 'released')];
  },
  restore: async () => [],
  deduct: async (_tx, cases) => cases.map(() => true as const),
};
const depotModule: Module = {
  name: 'depot',
  needs: ['inventory'],
  entries: [
    inventoryProviders.add({
      name: depot.name,
      about: 'at the depot',
      capabilities: { holdsLocally: false, mirrorsWarehouses: false },
      stockOwner: () => ({ editable: true, announce: null }),
      open: () => ({ operations: depot }),
    }),
  ],
};
const withDepot = [...modules, depotModule];
const without = (name: string) => modules.filter((module) => module.name !== name);

async function start(list: readonly Module[], settings: Readonly<Record<string, unknown>> = {}): Promise<ModuleShop> {
  await shop?.close();
  shop = null;
  shop = await openModuleShop(database, list, settings);
  buyer ??= await shop.shopper();
  return shop;
}
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: Error) => error.message,
  );
async function order(sku_id: number): Promise<{ id: number; order_no: string }> {
  const body = { address_id: buyer.address_id, items: [{ sku_id }] };
  const { code, message, data } = await shop!.call('POST', '/api/v1/orders', { token: buyer.token, body });
  if (code !== 0) throw new Error(message);
  return data;
}
const act = async (id: number, verb: 'pay' | 'cancel') =>
  (await shop!.call('POST', `/api/v1/orders/${id}/${verb}`, { token: buyer.token })).code;
const stateOf = async (id: number) => {
  const [row] = await database.sql`
    select s.provider, s.status, o.inventory_status from orders.orders o
    join inventory.order_inventory_state s using (order_no) where o.id = ${id}`;
  return Object.values(row!).join(' ');
};

beforeEach(async () => {
  database = await cloneDatabase();
  confirmed = [];
  released = [];
  buyer = undefined as never;
});
afterEach(async () => {
  try {
    expect((await shop?.brokenAudits()) ?? []).toEqual([]);
  } finally {
    await shop?.close();
    shop = null;
    await database.drop();
  }
});

test('a provider of another module reserves orders, and settles them after two changes of the provider', async () => {
  const { sku_ids } = await insertProduct(database, { stocks: [10] });
  const sku = sku_ids[0]!;
  await start(withDepot);
  const here = await order(sku);
  await start(withDepot, { 'inventory.provider': 'depot' });
  const row = shop!.runtime.settings.list().find(({ key }) => key === 'inventory.provider');
  expect(row?.about).toContain('local (on the SKU), builtin_wms (warehouses), external_wms, depot (at the depot)');
  const [paid, cancelled] = [await order(sku), await order(sku)];
  expect([await stateOf(here.id), await stateOf(paid.id)]).toEqual([
    'local reserved reserved',
    'depot reserved reserved',
  ]);

  await start(withDepot, externalSettings('http://127.0.0.1:9', 'async'));
  const elsewhere = await order(sku);
  await start(withDepot, { 'inventory.provider': 'builtin_wms' });
  expect([await act(here.id, 'pay'), await act(paid.id, 'pay')]).toEqual([0, 0]);
  expect([await act(cancelled.id, 'cancel'), await act(elsewhere.id, 'pay')]).toEqual([0, 0]);
  expect([confirmed, released]).toEqual([[paid.order_no], [cancelled.order_no]]);
  expect(await Promise.all([here, paid, cancelled, elsewhere].map(({ id }) => stateOf(id)))).toEqual([
    'builtin_wms confirmed confirmed',
    'depot pending pending',
    'depot pending pending',
    'external_wms pending pending',
  ]);
  const tasks = await database.sql`
    select action from inventory.inventory_integration_tasks where biz_no = ${elsewhere.order_no} order by id`;
  expect(tasks.map(({ action }) => action)).toEqual(['reserve', 'confirm']);
});

test('a shop does not start without a provider that has open orders, and starts when the orders are settled', async () => {
  const { sku_ids } = await insertProduct(database, { stocks: [10] });
  await start(withDepot, { 'inventory.provider': 'depot' });
  const { id, order_no } = await order(sku_ids[0]!);
  await start(withDepot, { 'inventory.provider': 'local' });
  const before = await database.sql`select provider, known from inventory.provider_state`;
  await shop!.close();
  shop = null;
  expect(await refusalOf(start(modules))).toContain('inventory.provider: orders reserved with depot are open');
  expect(await database.sql`select provider, known from inventory.provider_state`).toEqual(before);
  await start(withDepot);
  expect(await act(id, 'cancel')).toBe(0);
  await database.sql`
    with state as (update inventory.order_inventory_state set status = 'released' where order_no = ${order_no})
    update orders.orders set inventory_status = 'released' where order_no = ${order_no}`;
  await start(modules);
  expect(await act((await order(sku_ids[0]!)).id, 'pay')).toBe(0);
});

describe('without the module external-wms', () => {
  test('its provider is refused with the names of the existing providers', async () => {
    await start(without('external-wms'));
    const { settings } = shop!.runtime;
    const refused = await refusalOf(settings.set('inventory.provider', 'external_wms'));
    for (const part of ['inventory.provider: ', 'local', 'builtin_wms']) expect(refused).toContain(part);
    expect(await refusalOf(settings.set('inventory.provider', 'external'))).toBe(refused);
    await shop!.close();
    shop = null;
    const started = start(without('external-wms'), { 'inventory.provider': 'external_wms' });
    expect(await refusalOf(started)).toContain(
      'inventory.provider: "external_wms" is not one of its values: local, builtin_wms',
    );
  });

  test('a shop has no routes and settings of it, and takes orders', async () => {
    const { sku_ids } = await insertProduct(database, { stocks: [10] });
    await start(without('external-wms'), { 'inventory.provider': 'builtin_wms' });
    const paths = shop!.routes.map(({ path }) => path).filter((path) => /external-wms|inventory\/tasks/.test(path));
    const keys = shop!.runtime.settings.list().map(({ key }) => key);
    expect([paths, keys.filter((key) => /external/.test(key))]).toEqual([[], []]);
    expect(await act((await order(sku_ids[0]!)).id, 'pay')).toBe(0);
  });
});

test('two modules with providers of the same name are refused', async () => {
  expect(await refusalOf(start([...withDepot, { ...depotModule, name: 'depot2' }]))).toContain('of the same name');
});
