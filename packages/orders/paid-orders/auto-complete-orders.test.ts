import { auditViolations } from '@tradepost/testing/audit-violations';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { autoCompleteOrders } from './auto-complete-orders.ts';

/** Orders that no buyer reviews are completed some days after their shipment. */
let shop: Shop;
let ann: Awaited<ReturnType<Shop['shopper']>>;
let staff: string;
let sku: number;
beforeAll(async () => {
  shop = await openShop();
  ann = await shop.shopper();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  sku = (await insertProduct(shop.database)).sku_ids[0]!;
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

async function paid(): Promise<number> {
  const body = { address_id: ann.address_id, items: [{ sku_id: sku }] };
  const { data } = await shop.call('POST', '/api/v1/orders', { token: ann.token, body });
  await shop.call('POST', `/api/v1/orders/${data.id}/pay`, { token: ann.token });
  return data.id;
}
async function shipped(): Promise<number> {
  const id = await paid();
  const body = { company: 'SF', tracking_no: `SF${id}` };
  await shop.call('PUT', `/admin/api/orders/${id}/ship`, { token: staff, body });
  return id;
}
const statusOf = async (id: number) =>
  (await shop.call('GET', `/api/v1/orders/${id}`, { token: ann.token })).data.status;
/** Runs the job as it runs after so many days. */
const runAfter = (days: number, signal = new AbortController().signal) => {
  const { sql, settings } = shop.server.runtime;
  return autoCompleteOrders({ sql, settings, now: () => new Date(Date.now() + days * 86_400_000) }, { signal });
};

test('only shipped orders are completed, when the days have passed, and once', async () => {
  const order = await shipped();
  const waiting = await paid();
  expect(await runAfter(14.9)).toBe(0);
  expect(await statusOf(order)).toBe(3);
  const runs = await Promise.all([runAfter(15.1), runAfter(15.1), runAfter(15.1)]);
  expect(runs.reduce((sum, moved) => sum + moved, 0)).toBe(1);
  expect(await runAfter(15.1)).toBe(0);
  expect([await statusOf(order), await statusOf(waiting)]).toEqual([4, 2]);
  const moves = await shop.database.sql`
    select from_status, trigger, actor_type from orders.order_history where order_id = ${order} and to_status = 4`;
  expect(moves).toEqual([{ from_status: 3, trigger: 'auto_complete', actor_type: 'system' }]);
});

test('the days start again when an after-sale ends; an order with an open after-sale is left', async () => {
  const order = await shipped();
  const { sql } = shop.database;
  const move = (from: number, to: number, trigger: string) =>
    sql.begin(async (tx) => {
      await tx`update orders.orders set status = ${to} where id = ${order}`;
      await tx`insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type)
        values (${order}, ${from}, ${to}, ${trigger}, 'system')`;
    });
  await sql`update orders.order_history set created_at = now() - interval '20 days' where order_id = ${order}`;
  await sql`update orders.orders set created_at = now() - interval '20 days' where id = ${order}`;
  await move(3, 5, 'after_sale_open');
  expect(await runAfter(0)).toBe(0);
  expect(await statusOf(order)).toBe(5);
  await move(5, 3, 'after_sale_end');
  expect(await runAfter(0)).toBe(0);
  expect(await runAfter(16)).toBe(1);
  expect(await statusOf(order)).toBe(4);
});

test('0 days means never; a run that is stopped does nothing', async () => {
  await shipped();
  await shop.server.runtime.settings.set('orders.auto_complete_days', 0);
  expect(await runAfter(400)).toBe(0);
  await shop.server.runtime.settings.set('orders.auto_complete_days', 1);
  expect(await runAfter(2, AbortSignal.abort())).toBe(0);
  expect(await runAfter(2)).toBe(1);
});
