import { modules } from '@tradepost/app';
import { type Inventory, inventoryService } from '@tradepost/inventory';
import type { Module } from '@tradepost/module';
import { externalSettings, warehouseAccount } from '@tradepost/testing/external-shop';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct } from '@tradepost/testing/shop';
import { openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import { afterEach, expect, test } from 'vitest';
import { externalWarehouse } from './external-entry.ts';
import type { External } from './open-external.ts';

/** The stock of after-sale cases at the warehouse of a partner: each return and each exchange is reported once. */
let database: TestDatabase;
let shop: ModuleShop;
let simulator: Simulator;
let inventory: Inventory;
let external: External;

const probe: Module = {
  name: 'probe',
  needs: ['external-wms'],
  open(context) {
    inventory = context.service(inventoryService);
    external = context.service(externalWarehouse);
    return {};
  },
};
async function open(mode: 'sync' | 'async') {
  database = await cloneDatabase();
  simulator = await openSimulator(warehouseAccount);
  // The cases of these tests are numbers only. The audits of after-sales would miss their rows.
  const above = ['fulfilment', 'reviews', 'carrier-simulator'];
  const others = modules.filter((module) => !above.includes(module.name));
  shop = await openModuleShop(database, [...others, probe], externalSettings(simulator.url, mode));
}
afterEach(async () => {
  await shop?.close();
  await simulator?.close();
  await database?.drop();
});
const tasks = async () =>
  (
    await database.sql`
      select request_id, status, last_code, payload from inventory.inventory_integration_tasks order by id`
  ).map((row) => ({ ...row }));
const onHand = (sku: number) => simulator.ledger().skus.find((row) => row.sku_id === sku)?.on_hand;

test.each(['sync', 'async'] as const)(
  'a return and its exchange reach the partner once, in their order: %s',
  async (mode) => {
    await open(mode);
    const [sku] = (await insertProduct(database, { stocks: [3] })).sku_ids as [number];
    await simulator.setStock(sku, 10);
    const cases = [{ biz_no: 'AS17723586000000001', lines: [{ sku_id: sku, qty: 2, warehouse_id: 0 }] }];
    const both = () =>
      shop.runtime.sql.begin(async (tx) => {
        for (const statement of await inventory.restore(tx, cases)) await statement;
        return inventory.deduct(tx, cases);
      });
    expect(await both()).toEqual([true]);
    expect(await both()).toEqual([true]);
    await external.deliverDue(AbortSignal.timeout(5_000));
    const items = [{ sku_id: sku, qty: 2 }];
    const of = { biz_type: 'after_sale', biz_no: 'AS17723586000000001', items };
    expect(await tasks()).toEqual([
      {
        ...{ request_id: 'after_sale:AS17723586000000001:restore', status: 'success', last_code: 0 },
        payload: { ...of, reason: 'after_sale' },
      },
      { request_id: 'after_sale:AS17723586000000001:deduct', status: 'success', last_code: 0, payload: of },
    ]);
    const [document] = simulator.ledger().documents;
    expect(document).toMatchObject({ ...of, items: [], restored: items, deducted: items });
    expect(onHand(sku)).toBe(10);
    // The column of the SKU has what editors entered. The partner knows the stock.
    const [row] = await database.sql`select stock from catalog.product_skus where id = ${sku}`;
    expect(row!.stock).toBe(3);
    expect(await shop.brokenAudits()).toEqual([]);
  },
);

test('an exchange that the partner refuses is a failed task for an operator, and an unknown SKU is refused at once', async () => {
  await open('async');
  const [sku] = (await insertProduct(database, { stocks: [3] })).sku_ids as [number];
  await simulator.setStock(sku, 1);
  const deduct = (biz_no: string, sku_id: number) =>
    shop.runtime.sql.begin((tx) => inventory.deduct(tx, [{ biz_no, lines: [{ sku_id, qty: 2, warehouse_id: 0 }] }]));
  expect(await deduct('AS1', sku)).toEqual([true]);
  expect(await deduct('AS2', 2 ** 40)).toEqual(['sku_not_found']);
  await external.deliverDue(AbortSignal.timeout(5_000));
  expect(await tasks()).toMatchObject([{ request_id: 'after_sale:AS1:deduct', status: 'failed', last_code: 4003 }]);
  expect(onHand(sku)).toBe(1);
});
