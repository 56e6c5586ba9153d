import { dispatchEvents } from '@tradepost/runtime';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stockWarningCard, stockWarningList } from '../stock/stock-warnings.ts';
import { reportAllLowStock, reportLowStock } from './report-low-stock.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());
beforeEach(async () => {
  await shop.database.sql`truncate catalog.products cascade`;
  await shop.database.sql`truncate runtime.outbox, inventory.low_stock_skus, inventory.inventory_stock`;
  await shop.database.sql`update inventory.low_stock_scan set after_sku_id = 0, is_large = false`;
});

const report = (most?: { skus: number; events: number }) => reportLowStock(shop.server.runtime, most);
const reported = async () => {
  const rows = await shop.database.sql<{ data: { sku_id: number } }[]>`
    select data from runtime.outbox where name = 'stock.low' order by id`;
  return rows.map(({ data }) => data);
};
const reportedIds = async () => (await reported()).map(({ sku_id }) => sku_id);
const setStock = (id: number, stock: number) =>
  shop.database.sql`update catalog.product_skus set stock = ${stock} where id = ${id}`;
const dashboardList = () =>
  stockWarningList.select(shop.server.runtime, { reader: { id: 1, perms: ['*'] }, locale: 'en', limit: 20 });
const dashboardCount = () => stockWarningCard.count(shop.database.sql, { id: 1, perms: ['*'] });

test('a SKU is reported once when its stock falls to the limit, and again after it was above', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { stocks: [12, 500] });
  const sku = sku_ids[0]!;
  expect(await report()).toBe(0);
  await shop.database
    .sql`update catalog.product_skus set attrs = '[{"name": "Colour", "value": "Cream"}]' where id = ${sku}`;
  // Reserved stock cannot be sold.
  await shop.database.sql`update catalog.product_skus set reserved_stock = 2 where id = ${sku}`;
  expect(await dashboardCount()).toBe(1);
  expect([await report(), await report()]).toEqual([1, 0]);
  const title = 'Enamel mug (Cream)';
  expect(await reported()).toEqual([{ sku_id: sku, product_id: id, title, stock: 10, threshold: 10 }]);
  await setStock(sku, 5);
  expect(await report()).toBe(0);
  await setStock(sku, 13);
  expect(await report()).toBe(0);
  await setStock(sku, 12);
  expect(await report()).toBe(1);
  expect(await dashboardCount()).toBe(1);
});

test('the limit is the safety stock in enabled warehouses, as on the dashboard', async () => {
  const { sql } = shop.database;
  const { sku_ids } = await insertProduct(shop.database, { stocks: [40, 40] });
  await sql`
    insert into inventory.warehouses (id, code, name, status) overriding system value
    values (901, 'L1', 'One', 1), (902, 'L2', 'Two', 0)`;
  await sql`
    insert into inventory.inventory_stock (warehouse_id, sku_id, qty, safe_qty)
    values (901, ${sku_ids[0]!}, 40, 41), (901, ${sku_ids[1]!}, 40, 40), (902, ${sku_ids[1]!}, 0, 100)`;
  expect([await report(), await dashboardCount()]).toEqual([1, 1]);
  expect(await reported()).toMatchObject([{ sku_id: sku_ids[0]!, stock: 40, threshold: 41 }]);
});

test('safety stocks whose sum is beyond an integer neither stop the search nor break the dashboard', async () => {
  const { sql } = shop.database;
  const { sku_ids } = await insertProduct(shop.database, { stocks: [40] });
  await sql`
    insert into inventory.warehouses (id, code, name) overriding system value values (911, 'M1', 'One'), (912, 'M2', 'Two')`;
  await sql`
    insert into inventory.inventory_stock (warehouse_id, sku_id, qty, safe_qty)
    select id, ${sku_ids[0]!}, 40, 2147483647 from unnest('{911,912}'::int[]) as w (id)`;
  expect([await report(), await dashboardCount()]).toEqual([1, 1]);
  expect(await reported()).toMatchObject([{ sku_id: sku_ids[0]!, threshold: 2_147_483_647 }]);
  expect(await dashboardList()).toMatchObject([{ sku_id: sku_ids[0]!, threshold: 2_147_483_647 }]);
});

test('the dashboard of a large catalogue shows what the searches have found and what is still low', async () => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [1, 2, 99, 3, 4] });
  const most = { skus: 2, events: 100 };
  const all = () => reportAllLowStock(shop.server.runtime, new AbortController().signal, most);
  expect(await report(most)).toBe(2);
  const shown = async () => (await dashboardList()).map(({ sku_id }) => sku_id);
  expect([await dashboardCount(), await shown()]).toEqual([2, sku_ids.slice(0, 2)]);
  expect(await all()).toBe(2);
  const found = [0, 1, 3, 4].map((n) => sku_ids[n]!);
  expect([await dashboardCount(), await shown()]).toEqual([4, found]);
  await setStock(sku_ids[0]!, 50);
  expect([await dashboardCount(), await shown()]).toEqual([3, found.slice(1)]);
  // The catalogue has become small: it is read as a whole again.
  await setStock(sku_ids[2]!, 0);
  expect(await report()).toBe(1);
  expect([await dashboardCount(), await shown()]).toEqual([4, [sku_ids[2], ...found.slice(1)]]);
});

test('the searches of a minute end after many events, and when the worker stops', async () => {
  await insertProduct(shop.database, { stocks: [1, 1, 1, 1, 1] });
  const stopped = AbortSignal.abort();
  expect(await reportAllLowStock(shop.server.runtime, stopped)).toBe(0);
  const most = { skus: 1, events: 2 };
  expect(await reportAllLowStock(shop.server.runtime, new AbortController().signal, most)).toBe(2);
  expect(await reportedIds()).toHaveLength(2);
});

test('a SKU that is not on sale is not reported; one that was off sale for a while is not reported again', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { stocks: [1, 2] });
  const { sql } = shop.database;
  await sql`update catalog.product_skus set status = 'inactive' where id = ${sku_ids[1]!}`;
  await sql`update catalog.products set status = 0 where id = ${id}`;
  expect(await report()).toBe(0);
  await sql`update catalog.products set status = 1 where id = ${id}`;
  expect(await report()).toBe(1);
  await sql`update catalog.products set status = 0 where id = ${id}`;
  await report();
  await sql`update catalog.products set status = 1 where id = ${id}`;
  expect(await report()).toBe(0);
  expect(await reportedIds()).toEqual([sku_ids[0]]);
  await sql`delete from catalog.products where id = ${id}`;
  await report();
  expect(await sql`select from inventory.low_stock_skus`).toHaveLength(0);
});

test('a run is bounded, the next one goes on, and every low SKU is reported once', async () => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [1, 1, 99, 1, 1, 99, 1] });
  const most = { skus: 3, events: 1 };
  const counts: number[] = [];
  for (let run = 0; run < 12; run += 1) counts.push(await report(most));
  expect(Math.max(...counts)).toBe(1);
  expect(await reportedIds()).toEqual(sku_ids.filter((_, n) => ![2, 5].includes(n)));
});

test('two runs at once report a SKU once, and a failed run reports nothing', async () => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [1, 1] });
  const { runtime } = shop.server;
  const broken = { sql: runtime.sql, now: () => new Date(Number.NaN) };
  await expect(reportLowStock(broken)).rejects.toThrow();
  expect(await shop.database.sql`select from inventory.low_stock_skus`).toHaveLength(0);
  await Promise.all([report(), report(), report()]);
  expect(await reportedIds()).toEqual(sku_ids);
  const seen: string[] = [];
  const reader = {
    name: 'test',
    kinds: ['stock.low'],
    read: async (_: unknown, events: readonly { subject: string }[]) => void seen.push(...events.map((e) => e.subject)),
  };
  await dispatchEvents({ runtime, readers: [reader] });
  expect(seen).toEqual(sku_ids.map((id) => `sku:${id}`));
});
