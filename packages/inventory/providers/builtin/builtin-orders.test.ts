import { auditViolations } from '@tradepost/testing/audit-violations';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { stockWarehouses } from '@tradepost/testing/warehouses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Orders whose stock is in warehouses: the right warehouse is chosen, and its quantities are exact. */
let shop: Shop;
let buyer: { token: string; address_id: number; id: number };
beforeAll(async () => {
  shop = await openShop({ only: 'api,worker' }, { 'inventory.provider': 'builtin_wms' });
  buyer = await shop.shopper();
});
afterAll(() => shop?.close());

const post = (path: string, body?: object, token = buyer.token) => shop.call('POST', path, { token, body });
async function order(lines: Readonly<Record<number, number>>) {
  for (const [sku, qty] of Object.entries(lines)) await post('/api/v1/cart/add', { sku_id: Number(sku), qty });
  return post('/api/v1/orders', { address_id: buyer.address_id, sku_ids: Object.keys(lines).map(Number) });
}
const warehousesOf = async (id: number) => {
  const { data } = await shop.call('GET', `/api/v1/orders/${id}`, { token: buyer.token });
  return data.items.map((item: { warehouse_id: number }) => item.warehouse_id);
};
const stockOf = async (warehouse: number, sku: number) => {
  const [row] = await shop.database.sql`
    select qty, reserved_qty from inventory.inventory_stock where warehouse_id = ${warehouse} and sku_id = ${sku}`;
  return { ...row! };
};
const skuOf = async (sku: number) => {
  const [row] = await shop.database.sql`select stock, reserved_stock, sold from catalog.product_skus where id = ${sku}`;
  return { ...row! };
};
const movementsOf = async (sku: number) =>
  (
    await shop.database.sql`
      select warehouse_id, biz_type, change_qty, before_qty, after_qty, doc_no from inventory.stock_movements
      where sku_id = ${sku} order by id`
  ).map((row) => ({ ...row }));
const statusOf = async (id: number) =>
  (await shop.call('GET', `/api/v1/orders/${id}`, { token: buyer.token })).data.inventory_status;

describe('the warehouse of an order', () => {
  test('is the first that has all of it, although an earlier one has a part', async () => {
    const { sku_ids } = await insertProduct(shop.database, { stocks: [0, 0] });
    const [a, b] = sku_ids as [number, number];
    const ids = await stockWarehouses(shop.database.sql, {
      A1: { [a]: 10 },
      A2: { [a]: 10, [b]: 10 },
      A3: { [a]: 10, [b]: 10 },
    });
    const placed = await order({ [a]: 2, [b]: 3 });
    expect(placed.code).toBe(0);
    expect(placed.data.inventory_status).toBe('reserved');
    expect(await warehousesOf(placed.data.id)).toEqual([ids.A2, ids.A2]);
    expect(await stockOf(ids.A2!, a)).toEqual({ qty: 10, reserved_qty: 2 });
    expect(await stockOf(ids.A1!, a)).toEqual({ qty: 10, reserved_qty: 0 });
    expect(await skuOf(a)).toEqual({ stock: 30, reserved_stock: 2, sold: 0 });
  });

  test('is one per line when no warehouse has all of it', async () => {
    const { sku_ids } = await insertProduct(shop.database, { stocks: [0, 0] });
    const [a, b] = sku_ids as [number, number];
    const ids = await stockWarehouses(shop.database.sql, { B1: { [a]: 5 }, B2: { [b]: 5 } });
    const placed = await order({ [a]: 5, [b]: 5 });
    expect(await warehousesOf(placed.data.id)).toEqual([ids.B1, ids.B2]);
  });

  test('never splits a line: a quantity that no warehouse has is refused, and nothing is reserved', async () => {
    const { sku_ids } = await insertProduct(shop.database, { stocks: [0, 0] });
    const [a, b] = sku_ids as [number, number];
    const ids = await stockWarehouses(shop.database.sql, { C1: { [a]: 3, [b]: 9 }, C2: { [a]: 3 } });
    const refused = await order({ [a]: 4, [b]: 1 });
    expect([refused.code, refused.message]).toEqual([20001, 'Insufficient stock']);
    expect(await stockOf(ids.C1!, b)).toEqual({ qty: 9, reserved_qty: 0 });
    expect(await skuOf(a)).toEqual({ stock: 6, reserved_stock: 0, sold: 0 });
  });

  test('is never a disabled one; its stock is not on the SKU, and its open orders are still settled there', async () => {
    const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
    const sku = sku_ids[0]!;
    const ids = await stockWarehouses(shop.database.sql, { D1: { [sku]: 5 }, D2: { [sku]: 2 } });
    const first = await order({ [sku]: 3 });
    expect(await warehousesOf(first.data.id)).toEqual([ids.D1]);
    const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const off = await shop.call('PUT', `/admin/api/wms/warehouses/${ids.D1}/status`, {
      token: staff,
      body: { status: 0 },
    });
    expect(off.code).toBe(0);
    expect(await skuOf(sku)).toEqual({ stock: 2, reserved_stock: 0, sold: 0 });
    expect((await order({ [sku]: 3 })).code).toBe(20001);
    expect((await post(`/api/v1/orders/${first.data.id}/pay`)).code).toBe(0);
    expect(await stockOf(ids.D1!, sku)).toEqual({ qty: 2, reserved_qty: 0 });
    expect(await skuOf(sku)).toEqual({ stock: 2, reserved_stock: 0, sold: 3 });
    await shop.call('PUT', `/admin/api/wms/warehouses/${ids.D1}/status`, { token: staff, body: { status: 1 } });
    expect(await skuOf(sku)).toEqual({ stock: 4, reserved_stock: 0, sold: 3 });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });
});

test('reserve, pay and cancel leave a chain of movements that begins and ends with the quantity on hand', async () => {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
  const sku = sku_ids[0]!;
  const { E1 } = await stockWarehouses(shop.database.sql, { E1: { [sku]: 10 } });
  const bought = await order({ [sku]: 4 });
  const dropped = await order({ [sku]: 1 });
  await post(`/api/v1/orders/${bought.data.id}/pay`);
  await post(`/api/v1/orders/${dropped.data.id}/cancel`);
  expect(await statusOf(bought.data.id)).toBe('confirmed');
  expect(await statusOf(dropped.data.id)).toBe('released');
  const move = (biz_type: string, change_qty: number, before_qty: number, doc_no: string) => ({
    ...{ warehouse_id: E1, biz_type, change_qty, before_qty, after_qty: before_qty + change_qty, doc_no },
  });
  expect(await movementsOf(sku)).toEqual([
    move('inbound', 10, 0, 'WI-TEST'),
    move('reserve', 0, 10, bought.data.order_no),
    move('reserve', 0, 10, dropped.data.order_no),
    move('order_outbound', -4, 10, bought.data.order_no),
    move('release', 0, 6, dropped.data.order_no),
  ]);
  expect(await stockOf(E1!, sku)).toEqual({ qty: 6, reserved_qty: 0 });
  expect(await skuOf(sku)).toEqual({ stock: 6, reserved_stock: 0, sold: 4 });
});
