import { modules } from '@tradepost/app';
import type { Module } from '@tradepost/module';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct } from '@tradepost/testing/shop';
import { stockWarehouses } from '@tradepost/testing/warehouses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CaseLine, type Deducted, type Inventory, inventoryService } from '../index.ts';

/** Returned goods come into stock once, and an exchange never sends out stock that orders have reserved. */
let database: TestDatabase;
let shop: ModuleShop;
let inventory: Inventory;
let buyer: Awaited<ReturnType<ModuleShop['shopper']>>;

/** Gives the tests the service that the package of after-sales uses. */
const probe: Module = {
  name: 'probe',
  needs: ['inventory'],
  open(context) {
    inventory = context.service(inventoryService);
    return {};
  },
};
async function open(settings: Readonly<Record<string, unknown>>) {
  database = await cloneDatabase();
  // The cases of these tests are numbers only. The audits of after-sales would miss their rows.
  const above = ['fulfilment', 'reviews', 'carrier-simulator'];
  const others = modules.filter((module) => !above.includes(module.name));
  shop = await openModuleShop(database, [...others, probe], settings);
  buyer = await shop.shopper();
}
async function close() {
  await shop?.close();
  await database?.drop();
}

let cases = 0;
const caseNo = () => `AS${String(++cases).padStart(17, '0')}`;
const restore = (biz_no: string, lines: readonly CaseLine[]) =>
  shop.runtime.sql.begin(async (tx) => {
    for (const statement of await inventory.restore(tx, [{ biz_no, lines }])) await statement;
  });
const deduct = (...requests: { biz_no: string; lines: readonly CaseLine[] }[]): Promise<Deducted[]> =>
  shop.runtime.sql.begin((tx) => inventory.deduct(tx, requests));
const line = (sku_id: number, qty: number, warehouse_id = 0): CaseLine => ({ sku_id, qty, warehouse_id });
const skuOf = async (id: number) => {
  const [row] = await database.sql`select stock, reserved_stock, sold from catalog.product_skus where id = ${id}`;
  return { ...row! };
};
const ledgerOf = async (biz_no: string) =>
  (
    await database.sql`
      select action, sku_id, qty, provider from inventory.after_sale_moves where biz_no = ${biz_no} order by action, sku_id`
  ).map((row) => ({ ...row }));
async function order(sku_id: number, qty: number) {
  const { token, address_id } = buyer;
  await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id, qty } });
  return shop.call('POST', '/api/v1/orders', { token, body: { address_id, sku_ids: [sku_id] } });
}
/** The same promises for every provider that holds stock in this database. */
function heldHere(stocked: (...stocks: number[]) => Promise<number[]>) {
  test('returned goods are sellable again, once for every case, and the sales stay', async () => {
    const [a, b] = (await stocked(5, 7)) as [number, number];
    const biz_no = caseNo();
    const lines = [line(a, 2), line(b, 1), line(a, 1)];
    await restore(biz_no, lines);
    await restore(biz_no, lines);
    await restore(biz_no, [line(a, 9), line(b, 9)]);
    expect(await skuOf(a)).toEqual({ stock: 8, reserved_stock: 0, sold: 0 });
    expect(await skuOf(b)).toEqual({ stock: 8, reserved_stock: 0, sold: 0 });
    const rows =
      await database.sql`select sku_id, qty from inventory.restored_stock where biz_no = ${biz_no} order by sku_id`;
    expect(rows.map((row) => [row.sku_id, row.qty])).toEqual([
      [a, 3],
      [b, 1],
    ]);
  });

  test('the same case received by twenty at once comes into stock once', async () => {
    const [a] = (await stocked(0)) as [number];
    const biz_no = caseNo();
    await Promise.all(Array.from({ length: 20 }, () => restore(biz_no, [line(a, 2)])));
    expect(await skuOf(a)).toMatchObject({ stock: 2 });
  });

  test('a SKU that does not exist any more does not stop the others', async () => {
    const [a] = (await stocked(1)) as [number];
    const biz_no = caseNo();
    await restore(biz_no, [line(a, 1), line(2 ** 40, 1)]);
    expect(await skuOf(a)).toMatchObject({ stock: 2 });
    expect((await ledgerOf(biz_no)).map((row) => row.sku_id)).toEqual([a]);
  });

  test('an exchange takes all its lines or none, and a repeat takes nothing', async () => {
    const [a, b] = (await stocked(5, 1)) as [number, number];
    const [short, fits, unknown] = [caseNo(), caseNo(), caseNo()];
    const outcomes = await deduct(
      { biz_no: short, lines: [line(a, 1), line(b, 2)] },
      { biz_no: fits, lines: [line(a, 2), line(b, 1)] },
      { biz_no: unknown, lines: [line(a, 1), line(2 ** 40, 1)] },
    );
    expect(outcomes).toEqual(['insufficient_stock', true, 'sku_not_found']);
    expect(await deduct({ biz_no: fits, lines: [line(a, 2), line(b, 1)] })).toEqual([true]);
    expect([(await skuOf(a)).stock, (await skuOf(b)).stock]).toEqual([3, 0]);
    expect(await ledgerOf(short)).toEqual([]);
  });

  test('an exchange leaves what orders have reserved', async () => {
    const [a] = (await stocked(3)) as [number];
    expect((await order(a, 2)).code).toBe(0);
    expect(await deduct({ biz_no: caseNo(), lines: [line(a, 2)] })).toEqual(['insufficient_stock']);
    expect(await deduct({ biz_no: caseNo(), lines: [line(a, 1)] })).toEqual([true]);
    expect(await skuOf(a)).toMatchObject({ stock: 2, reserved_stock: 2 });
  });

  test('forty exchanges and orders at once for ten pieces: ten leave', async () => {
    const [a] = (await stocked(10)) as [number];
    const buyers = await Promise.all(Array.from({ length: 20 }, () => shop.shopper()));
    const outcomes = await Promise.all([
      ...buyers.map(async ({ token, address_id }) => {
        const body = { address_id, items: [{ sku_id: a }] };
        return (await shop.call('POST', '/api/v1/orders', { token, body })).code === 0;
      }),
      ...Array.from({ length: 20 }, async () => (await deduct({ biz_no: caseNo(), lines: [line(a, 1)] }))[0] === true),
    ]);
    expect(outcomes.filter(Boolean)).toHaveLength(10);
    const { stock, reserved_stock } = await skuOf(a);
    expect(stock).toBe(reserved_stock);
  });

  test('afterwards all audits pass', async () => {
    expect(await shop.brokenAudits()).toEqual([]);
  });
}

describe('local stock', () => {
  beforeAll(() => open({}));
  afterAll(close);
  heldHere(async (...stocks) => (await insertProduct(database, { stocks })).sku_ids);
});

describe('stock in warehouses', () => {
  let warehouse = 0;
  const stocked = async (...stocks: number[]) => {
    const { sku_ids } = await insertProduct(database, { stocks: stocks.map(() => 0) });
    const stock = Object.fromEntries(sku_ids.map((id, index) => [id, stocks[index]!]));
    warehouse = (await stockWarehouses(database.sql, { [`W${sku_ids[0]}`]: stock }))[`W${sku_ids[0]}`]!;
    return sku_ids;
  };
  const levelOf = async (warehouse_id: number, sku_id: number) => {
    const [row] = await database.sql`
      select qty from inventory.inventory_stock where warehouse_id = ${warehouse_id} and sku_id = ${sku_id}`;
    return row?.qty ?? 0;
  };
  beforeAll(() => open({ 'inventory.provider': 'builtin_wms' }));
  afterAll(close);
  heldHere(stocked);

  test('goods come back into the warehouse that they left, also a disabled one, with an inbound document of the case', async () => {
    const [a] = (await stocked(4)) as [number];
    const biz_no = caseNo();
    await database.sql`update inventory.warehouses set status = 0 where id = ${warehouse}`;
    await database.sql`update catalog.product_skus set stock = 0 where id = ${a}`;
    await restore(biz_no, [line(a, 3, warehouse)]);
    expect(await levelOf(warehouse, a)).toBe(7);
    // A SKU shows the stock of enabled warehouses only.
    expect(await skuOf(a)).toMatchObject({ stock: 0 });
    const [document] = await database.sql`
      select d.doc_type, d.biz_type, d.status, m.biz_type as movement, m.change_qty, m.before_qty, m.after_qty
      from inventory.stock_documents d join inventory.stock_movements m on m.doc_id = d.id where d.biz_no = ${biz_no}`;
    expect({ ...document }).toEqual({
      ...{ doc_type: 'inbound', biz_type: 'restore', status: 'completed' },
      ...{ movement: 'inbound', change_qty: 3, before_qty: 4, after_qty: 7 },
    });
    await database.sql`update inventory.warehouses set status = 1 where id = ${warehouse}`;
    await database.sql`update catalog.product_skus set stock = 7 where id = ${a}`;
  });

  test('goods that left no warehouse come into the first enabled one, or the oldest one when all are disabled', async () => {
    const [a] = (await stocked(0)) as [number];
    const { sql } = database;
    const all = await sql<{ id: number }[]>`select id from inventory.warehouses order by id`;
    const [oldest, second] = [all[0]!.id, all[1]!.id];
    await sql`update inventory.warehouses set status = 0 where id = ${oldest}`;
    await restore(caseNo(), [line(a, 2)]);
    expect(await levelOf(second, a)).toBe(2);
    await sql`update inventory.warehouses set status = 0`;
    await restore(caseNo(), [line(a, 3)]);
    expect(await levelOf(oldest, a)).toBe(3);
    await sql`update inventory.warehouses set status = 1`;
    await sql`update catalog.product_skus set stock = 5 where id = ${a}`;
  });

  test('an exchange is sent from the warehouse of the returned goods when it has enough, else from another', async () => {
    const { sku_ids } = await insertProduct(database, { stocks: [0] });
    const a = sku_ids[0]!;
    const ids = await stockWarehouses(database.sql, { X1: { [a]: 5 }, X2: { [a]: 2 } });
    expect(await deduct({ biz_no: caseNo(), lines: [line(a, 2, ids.X2)] })).toEqual([true]);
    expect([await levelOf(ids.X1!, a), await levelOf(ids.X2!, a)]).toEqual([5, 0]);
    expect(await deduct({ biz_no: caseNo(), lines: [line(a, 2, ids.X2)] })).toEqual([true]);
    expect([await levelOf(ids.X1!, a), await levelOf(ids.X2!, a)]).toEqual([3, 0]);
    expect(await skuOf(a)).toMatchObject({ stock: 3 });
  });

  test('documents and exchanges at once do not deadlock, and the movements stay a chain', async () => {
    const [a, b] = (await stocked(100, 100)) as [number, number];
    const here = warehouse;
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => {
        const lines = n % 2 ? [line(a, 1, here), line(b, 1, here)] : [line(b, 1, here), line(a, 1, here)];
        return n % 3 ? deduct({ biz_no: caseNo(), lines }) : restore(caseNo(), lines);
      }),
    );
    expect([await levelOf(here, a), await levelOf(here, b)]).toEqual([90, 90]);
    expect(await shop.brokenAudits()).toEqual([]);
  });
});
