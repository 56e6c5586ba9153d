import { toWire } from '@tradepost/core';
import { timeZone } from '@tradepost/runtime';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markOrders } from '../days/day-store.ts';
import { rollDays } from '../days/roll-days.ts';
import { plainReports } from '../testing/plain-reports.ts';
import { insertRandomOrders, randomOf } from '../testing/random-orders.ts';

/** Reports equal a count over the tables: before the roll-up, with it, and after late changes of past days, in every time zone. */
let shop: Shop;
let staff: string;
const random = randomOf(42);
let skus: { id: number; product_id: number }[];

beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const products = await Promise.all(
    [900, 4_900, 9_900, 29_000, 60_000].map((price) => insertProduct(shop.database, { price, stocks: [5, 0, 20] })),
  );
  skus = products.flatMap(({ id, sku_ids }) => sku_ids.map((sku) => ({ id: sku, product_id: id })));
  await insertRandomOrders(shop.database.sql, random, { count: 600, days: 110, skus, now: new Date() });
});
afterAll(() => shop?.close());

const report = async (name: string, days: number) =>
  (await shop.call('GET', `/admin/api/analytics/${name}?days=${days}`, { token: staff, lang: 'en' })).data;
const percent = (a: number, b: number) => (b === 0 ? 0 : Math.round((a / b) * 10_000) / 100);
const ratio = (a: number, b: number) => (b === 0 ? 0 : Math.round((a / b) * 100) / 100);

async function expectPlainNumbers(): Promise<void> {
  const { settings, now } = shop.server.runtime;
  const plain = await plainReports(shop.database.sql, settings.get(timeZone), now());
  const { data: dashboard } = await shop.call('GET', '/admin/api/dashboard', { token: staff });
  for (const { date, orders, sales } of dashboard.sales_trend)
    expect({ date, orders, sales: Math.round(sales * 100) }).toEqual({ date, ...plain.dayOf(date) });
  expect(dashboard.sales_trend).toHaveLength(30);
  expect([dashboard.today_orders, Math.round(dashboard.today_sales * 100)]).toEqual(
    Object.values(plain.dayOf(plain.today)),
  );
  for (const days of [1, 7, 30, 90]) {
    const of = plain.period(days);
    const sales = await report('sales', days);
    expect(sales.summary).toEqual({
      gmv: toWire(of.sales),
      order_count: of.sold,
      avg_order_value: ratio(toWire(of.sales), of.sold),
      refund_rate: percent(of.refunded, of.paid),
      refund_count: of.refunded,
    });
    expect(sales.revenue_trend.categories).toHaveLength(days);
    expect(sales.hourly_distribution.series[0].data).toEqual(of.hours);
    expect(sales.pay_method_distribution.map((part: { value: number }) => part.value)).toEqual(of.methods);
    const customers = await report('customers', days);
    const buyers = of.frequency.reduce((a, b) => a + b, 0);
    expect(customers.summary).toMatchObject({ total_customers: buyers, new_customer_count: of.newBuyers });
    expect(customers.purchase_frequency.series[0].data).toEqual(of.frequency);
    expect(customers.order_value_distribution.series[0].data).toEqual(of.bands);
    expect(customers.rfm_radar.data[0].value[0]).toBeCloseTo(buyers === 0 ? 0 : 100 * (1 - of.meanAge / days), 1);
    const products = await report('products', days);
    const ranked = products.sku_ranking.map((row: { sold_qty: number; revenue: number }) => [
      row.sold_qty,
      row.revenue,
    ]);
    expect(ranked).toEqual(of.skus.slice(0, 10).map((sku) => [sku.qty, toWire(sku.revenue)]));
    const revenue = of.skus.reduce((total, sku) => total + sku.revenue, 0);
    expect(products.category_sales.map((part: { value: number }) => part.value)).toEqual(
      revenue > 0 ? [toWire(revenue)] : [],
    );
    const conversion = await report('conversion', days);
    const counts = conversion.funnel.map((step: { count: number }) => step.count);
    expect(counts).toEqual([0, of.orders, of.orders, of.paid]);
  }
}

/** Changes random orders of any day as payments, cancellations and refunds do, and records their events. */
async function changeOrders(): Promise<void> {
  const { sql } = shop.database;
  const changed = await sql<{ id: number }[]>`
    update orders.orders set status = case status when 1 then 2 when 2 then 6 when 6 then 6 else 5 end,
      paid_at = coalesce(paid_at, case when status = 1 then now() end)
    where id % 7 = ${random.below(7)} returning id`;
  const refunded = await sql<{ order_id: number }[]>`
    update orders.refunds set status = 'succeeded', finished_at = now()
    where status = 'pending' and order_id % 2 = 0 returning order_id`;
  const added = await insertRandomOrders(sql, random, { count: 40, days: 60, skus, now: new Date() });
  const ids = [...changed.map(({ id }) => id), ...refunded.map(({ order_id }) => order_id), ...added];
  await shop.server.runtime.sql.begin((tx) => markOrders(tx, ids));
}

const roll = () => rollDays(shop.server.runtime, { refreshMs: 0 });

describe.each(['Asia/Shanghai', 'America/St_Johns', 'Pacific/Chatham', '+05:30'])('in the time zone %s', (zone) => {
  test('the numbers equal a count over the tables', { timeout: 60_000 }, async () => {
    await shop.server.runtime.settings.set(timeZone.key, zone);
    await expectPlainNumbers();
    expect(await roll()).toBeGreaterThan(100);
    await expectPlainNumbers();
    expect(await roll()).toBe(0);
    await changeOrders();
    expect(await roll()).toBeGreaterThan(0);
    await expectPlainNumbers();
    const zones = await shop.database.sql`select distinct zone from analytics.order_days`;
    expect(zones.map((row) => row.zone)).toEqual([zone]);
  });
});
