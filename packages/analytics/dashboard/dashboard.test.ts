import { modules } from '@tradepost/app';
import { isoInZone } from '@tradepost/core';
import { openTokens } from '@tradepost/identity';
import { dispatchEvents, openLog, timeZone } from '@tradepost/runtime';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changedDaysReader } from '../days/mark-changed-days.ts';
import { rollDays } from '../days/roll-days.ts';
import { reportSlots } from '../limits.ts';

let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(() => shop?.close());

const dashboard = async (query = '', token = staff) =>
  shop.call('GET', `/admin/api/dashboard${query}`, { token, lang: 'en' });
const today = () => isoInZone(new Date(), shop.server.runtime.settings.get(timeZone)).slice(0, 10);
const daysAgo = (n: number) => new Date(Date.parse(today()) - n * 86_400_000).toISOString().slice(0, 10);

test('a new shop has zeros, empty lists and charts of full length', async () => {
  const { data } = await dashboard();
  expect(data).toMatchObject({
    ...{ today_orders: 0, today_sales: 0, today_avg_price: 0, pending_refunds: 0, pending_ship: 0, unread_message: 0 },
    ...{ pending_after_sale: 0, online_sessions: 0, stock_warning: 0 },
    compare: { revenue_yoy: 0, revenue_mom: 0, order_yoy: 0, order_mom: 0 },
    ...{ hot_products: [], announcements: [], stock_warning_list: [] },
  });
  expect(data.sales_trend).toHaveLength(30);
  expect(data.sales_trend.at(-1)).toEqual({ date: today(), orders: 0, sales: 0 });
  expect(data.status_distribution).toHaveLength(6);
  expect(data.trend.revenue_7d.categories).toHaveLength(7);
  expect(data.trend.revenue_30d.series).toEqual([{ name: 'Sales', data: Array(30).fill(0) }]);
});

test('orders of today are counted at once', async () => {
  const { id, sku_ids } = await insertProduct(shop.database, { title: 'Mug', price: 1_250, stocks: [12] });
  const { token, address_id } = await shop.shopper();
  const place = async () =>
    (await shop.call('POST', '/api/v1/orders', { token, body: { address_id, items: [{ sku_id: sku_ids[0] }] } })).data
      .id;
  const [first] = [await place(), await place()];
  await shop.call('POST', `/api/v1/orders/${first}/pay`, { token });
  const { data } = await dashboard();
  expect(data).toMatchObject({
    today_orders: 2,
    today_sales: 12.5,
    today_avg_price: 6.25,
    pending_ship: 1,
    stock_warning: 1,
  });
  expect(data.hot_products).toEqual([{ id, title: 'Mug', cover: '', sold_qty: 1 }]);
  expect(data.stock_warning_list).toEqual([
    { product_id: id, sku_id: sku_ids[0], title: 'Mug', stock: 10, threshold: 10 },
  ]);
  const status = Object.fromEntries(
    data.status_distribution.map((part: { name: string; value: number }) => [part.name, part.value]),
  );
  expect(status).toMatchObject({ 'Pending Payment': 1, 'Pending Shipment': 1, Completed: 0 });
});

test('announcements are on the dashboard of every administrator', async () => {
  const announced = await shop.call('POST', '/admin/api/announcements', {
    token: staff,
    body: { title: 'Stocktaking', content: 'On Sunday', type: 'urgent' },
  });
  const token = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: [] });
  const { id, title, content, type, created_at } = announced.data;
  expect((await dashboard('', token)).data.announcements).toEqual([{ id, title, content, type, created_at }]);
});

test('numbers of the cards need their permissions; without them they are 0', async () => {
  const token = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: ['product:view'] });
  const { data } = await dashboard('', token);
  expect(data).toMatchObject({ today_orders: 2, pending_ship: 0, stock_warning: 1 });
  const other = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: [] });
  expect((await dashboard('', other)).data).toMatchObject({ stock_warning: 0, stock_warning_list: [] });
  const shopper = await shop.shopper();
  expect((await dashboard('', shopper.token)).code).toBe(403);
  expect((await shop.call('GET', '/admin/api/analytics/sales', { token: other })).code).toBe(403);
});

test.each([
  ['?range=7d', 7],
  ['?range=1w', 7],
  ['?range=1m', 30],
  ['?range=&start_date=&end_date=', 30],
])('%s has %i days until today', async (query, days) => {
  const { data } = await dashboard(query);
  expect(data.sales_trend).toHaveLength(days);
  expect(data.sales_trend.at(-1)).toMatchObject({ date: today(), orders: 2, sales: 12.5 });
});

test('a range of dates has its days', async () => {
  const of = async (query: string) =>
    (await dashboard(query)).data.sales_trend.map((row: { date: string }) => row.date);
  expect(await of(`?start_date=${daysAgo(4)}&end_date=${daysAgo(2)}`)).toEqual([daysAgo(4), daysAgo(3), daysAgo(2)]);
  expect(await of(`?start_date=${daysAgo(1)}`)).toEqual([daysAgo(1), today()]);
  expect(await of('?start_date=2024-02-28&end_date=2024-03-01')).toEqual(['2024-02-28', '2024-02-29', '2024-03-01']);
  expect(await of('?range=7d&start_date=2024-02-28&end_date=2024-02-28')).toEqual(['2024-02-28']);
});

test.each([
  ['?range=2y', 'range'],
  ['?start_date=yesterday', 'start_date'],
  ['?end_date=2026-02-30', 'end_date'],
  ['?start_date=2026-03-02&end_date=2026-03-01', 'end_date'],
  ['?start_date=2020-01-01&end_date=2026-01-01', 'end_date'],
])('%s is refused by the name of the field', async (query, field) => {
  const { code, message } = await dashboard(query);
  expect([code, message]).toEqual([400, expect.stringContaining(field)]);
});

test('days of a report other than 1, 7, 30 and 90 are refused', async () => {
  const answer = await shop.call('GET', '/admin/api/analytics/sales?days=5', { token: staff });
  expect([answer.code, answer.message]).toEqual([400, expect.stringContaining('days')]);
});

describe('the roll-up', () => {
  const dispatch = () =>
    dispatchEvents({
      runtime: { sql: shop.server.runtime.sql, now: () => new Date(), log: openLog({ level: 'silent' }) },
      readers: [changedDaysReader],
    });

  test('a payment, a refund and a cancellation of an older order correct its day', async () => {
    const { sql } = shop.database;
    const { sku_ids } = await insertProduct(shop.database, { price: 1_000, stocks: [100] });
    const { token, address_id } = await shop.shopper();
    const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
    const place = async () => (await shop.call('POST', '/api/v1/orders', { token, body })).data.id;
    const [paid, cancelled] = [await place(), await place()];
    await sql`update orders.orders set created_at = created_at - interval '2 days' where id in (${paid}, ${cancelled})`;
    await dispatch();
    await rollDays(shop.server.runtime, { refreshMs: 0 });
    const day = async () =>
      (await dashboard()).data.sales_trend.find((row: { date: string }) => row.date === daysAgo(2));
    expect(await day()).toEqual({ date: daysAgo(2), orders: 2, sales: 0 });
    await shop.call('POST', `/api/v1/orders/${paid}/pay`, { token });
    await shop.call('POST', `/api/v1/orders/${cancelled}/cancel`, { token });
    await dispatch();
    expect(await rollDays(shop.server.runtime, { refreshMs: 0 })).toBe(1);
    expect(await day()).toEqual({ date: daysAgo(2), orders: 2, sales: 10 });
  });

  test('an order that changed while this module was switched off corrects its day when it is on again', async () => {
    const { sql } = shop.database;
    const { runtime } = shop.server;
    const { sku_ids } = await insertProduct(shop.database, { price: 1_000, stocks: [100] });
    const { token, address_id } = await shop.shopper();
    const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
    const { id } = (await shop.call('POST', '/api/v1/orders', { token, body })).data;
    await sql`update orders.orders set created_at = created_at - interval '4 days' where id = ${id}`;
    await dispatch();
    await rollDays(runtime);
    await shop.call('POST', `/api/v1/orders/${id}/pay`, { token });
    const without = { sql: runtime.sql, now: () => new Date(), log: openLog({ level: 'silent' }) };
    expect(await dispatchEvents({ runtime: without, readers: [] })).toBe(1);
    await rollDays(runtime);
    const day = async () =>
      (await dashboard()).data.sales_trend.find((row: { date: string }) => row.date === daysAgo(4));
    expect(await day()).toMatchObject({ orders: 1, sales: 0 });
    await sql`update analytics.catalogue_counts set counted_at = counted_at - interval '1 hour'`;
    await rollDays(runtime);
    expect(await day()).toMatchObject({ orders: 1, sales: 10 });
    // It looks once.
    expect(await rollDays(runtime)).toBe(0);
  });

  test('the command counts all days again and repairs wrong counts', async () => {
    await shop.database.sql`update analytics.order_days set orders = 77`;
    const result = await runCommandInProcess(['analytics', 'rebuild', '--json'], {
      env: { DATABASE_URL: shop.database.url },
    });
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout).days).toBeGreaterThanOrEqual(2);
    expect((await dashboard()).data.sales_trend.at(-3)).toEqual({ date: daysAgo(2), orders: 2, sales: 10 });
  });
});

describe('with orders, inventory, reviews and others switched off', () => {
  let database: TestDatabase;
  let small: ModuleShop;
  beforeAll(async () => {
    database = await cloneDatabase();
    const left = ['runtime', 'storage', 'identity', 'analytics'];
    small = await openModuleShop(
      database,
      modules.filter(({ name }) => left.includes(name)),
      {},
      modules,
    );
  });
  afterAll(async () => {
    await small?.close();
    await database?.drop();
  });

  test('the dashboard has zeros and empty charts, the reports have zeros and full length', async () => {
    const tokens = await openTokens(small.runtime);
    const token = await tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    await tokens.close();
    const answer = await small.call('GET', '/admin/api/dashboard', { token, lang: 'en' });
    const empty = (name: string) => ({ categories: [], series: [{ name, data: [] }] });
    expect(answer.data).toEqual({
      ...{ today_orders: 0, today_sales: 0, today_avg_price: 0, pending_refunds: 0, pending_ship: 0 },
      ...{ pending_after_sale: 0, online_sessions: 0, unread_message: 0, stock_warning: 0 },
      ...{ pending_withdrawals: 0, pending_exchanges: 0 },
      compare: { revenue_yoy: 0, revenue_mom: 0, order_yoy: 0, order_mom: 0 },
      sales_trend: [],
      trend: { revenue_7d: empty('Sales'), revenue_30d: empty('Sales'), order_7d: empty('Orders') },
      status_distribution: answer.data.status_distribution,
      ...{ hot_products: [], announcements: [], stock_warning_list: [] },
    });
    expect(answer.data.status_distribution.map((part: { value: number }) => part.value)).toEqual(Array(6).fill(0));
    const dated = await small.call('GET', '/admin/api/dashboard?range=7d', { token });
    expect(dated.data.sales_trend).toEqual([]);
    for (const name of ['sales', 'products', 'customers', 'traffic', 'conversion']) {
      const { code, data } = await small.call('GET', `/admin/api/analytics/${name}?days=30`, { token });
      expect([name, code]).toEqual([name, 0]);
      expect(Object.values(data.summary).every((value) => value === 0)).toBe(true);
    }
    const sales = await small.call('GET', '/admin/api/analytics/sales?days=90', { token });
    expect(sales.data.revenue_trend.categories).toHaveLength(90);
  });
});

test('many dashboards and reports at once leave the connections to shoppers, and further ones are answered with 503', async () => {
  const asked = Array.from({ length: 200 }, (_, n) => ['dashboard', 'analytics/products', 'analytics/sales'][n % 3]);
  const [answers, products] = await Promise.all([
    Promise.all(asked.map((path) => shop.call('GET', `/admin/api/${path}`, { token: staff, lang: 'en' }))),
    shop.call('GET', '/api/v1/products'),
  ]);
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(
    reportSlots.active + reportSlots.queued,
  );
  expect(answers.find(({ status }) => status === 503)?.headers.get('retry-after')).toBe('1');
  expect(products.status).toBe(200);
  expect((await dashboard()).code).toBe(0);
});
