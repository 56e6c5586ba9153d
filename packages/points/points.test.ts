import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@tradepost/app';
import { loadConfig, openLog } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { call } from '@tradepost/testing/client';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { chinese, expectFields } from '@tradepost/testing/routes/contract';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expirePoints } from './expiry/expire-points.ts';
import { foldSums, selectSums } from './ledger/sums-store.ts';
import { openPointsShop } from './testing/points-shop.ts';

const dayMs = 24 * 60 * 60 * 1000;
const log = 'id i, user_id i, type i, type_label s, points i, related_id i, remark s, created_at t';

let shop: Shop;
let at: Awaited<ReturnType<typeof openPointsShop>>;
beforeAll(async () => {
  shop = await openShop();
  at = await openPointsShop(shop);
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop?.close();
});

const staffCall = (method: string, path: string, body?: unknown, lang?: string) =>
  shop.call(method, `/admin/api/points/${path}`, {
    token: at.staff,
    ...(body === undefined ? {} : { body }),
    ...(lang ? { lang } : {}),
  });
const adjust = (user_id: number, points: number, remark = 'Goodwill') =>
  staffCall('POST', 'adjust', { user_id, points, remark });

test('a shopper sees the balance and its changes, newest first and in both languages; the profile shows the balance', async () => {
  const buyer = await at.buyerWith(0);
  const { token } = buyer;
  expect((await shop.call('GET', '/api/v1/points/balance', { token })).data).toEqual({ points: 0 });
  expect((await adjust(buyer.id, 500)).data).toBeNull();
  const { id } = await at.order(buyer, await at.skusAt(1_000), { points_use: 20, to: 'unpaid' });
  const paths = ['/api/v1/points/logs', '/api/v1/user/points/logs'];
  for (const path of paths) {
    const { data } = await shop.call('GET', `${path}?page=1&size=1`, { token, lang: 'en' });
    expectFields(data, 'list [], total i, page i, size i');
    expect(data).toMatchObject({ total: 2, page: 1, size: 1 });
    expectFields(data.list[0], log);
    expect(data.list[0]).toMatchObject({ type: 2, type_label: 'Order deduction', points: -20, related_id: id });
    expect(data.list[0].remark).toBe('Order deduction');
    const [adjusted] = (await shop.call('GET', `${path}?page=2&size=1`, { token, lang: 'zh-CN' })).data.list;
    expect(adjusted).toMatchObject({ type: 5, points: 500, remark: 'Goodwill' });
    expect(adjusted.type_label).toMatch(chinese);
  }
  expect((await shop.call('GET', '/api/v1/user/profile', { token })).data.points).toBe(480);
  expect((await shop.call('GET', '/api/auth/profile', { token })).data.points).toBe(480);
  const other = await at.buyerWith(0);
  expect((await shop.call('GET', paths[0]!, { token: other.token })).data).toMatchObject({ list: [], total: 0 });
});

test('staff adjust points, never below 0, and list them by shopper and type', async () => {
  const buyer = await at.buyerWith(0);
  expect((await adjust(buyer.id, 30)).code).toBe(0);
  expect(await adjust(buyer.id, -31)).toMatchObject({ status: 200, code: 500 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => adjust(buyer.id, -7, '')));
  expect(answers.filter(({ code }) => code === 0)).toHaveLength(4);
  expect(await at.balanceOf(buyer)).toBe(2);
  expect(await adjust(999_999, 1)).toMatchObject({ code: 404 });
  for (const points of [0, 1.5, 'many', 1e15])
    expect(await staffCall('POST', 'adjust', { user_id: buyer.id, points })).toMatchObject({
      ...{ code: 400, message: expect.stringContaining('points') },
    });
  const listed = async (query: string) => (await staffCall('GET', `logs?${query}`)).data;
  expect(await listed(`user_id=${buyer.id}&type=0&size=1000`)).toMatchObject({ total: 5, size: 1000 });
  expect(await listed(`user_id=${buyer.id}&type=5&size=2&page=3`)).toMatchObject({ total: 5, list: [{ points: 30 }] });
  expect(await listed(`user_id=${buyer.id}&type=1`)).toMatchObject({ total: 0, list: [] });
  const all = await listed('user_id=&type=');
  expect(all.total).toBeGreaterThan(5);
  expectFields(all.list[0], log);
  // The shopper gets a message.
  await dispatchEvents(shop);
  const inbox = await shop.call('GET', '/api/v1/messages', { token: buyer.token, lang: 'en' });
  expect(inbox.data.list[0]).toMatchObject({ title: 'Points changed', content: expect.stringContaining('-7') });
  expect(inbox.data.total).toBe(5);
});

test('the settings of points are changed one by one, and each answer has all of them', async () => {
  const config = 'points_to_yuan i, order_points_rate x, points_expire_days i, enable_order_points b';
  const before = (await staffCall('GET', 'config')).data;
  expectFields(before, config);
  expect(before).toEqual({
    ...{ points_to_yuan: 100, order_points_rate: 0.01, points_expire_days: 0, enable_order_points: true },
  });
  const changed = await staffCall('PUT', 'config', { points_to_yuan: 10, unknown: 1 });
  expect(changed.data).toEqual({ ...before, points_to_yuan: 10 });
  const buyer = await at.buyerWith(1_000);
  expect((await at.quote(buyer, await at.skusAt(1_234), 1_000)).data.total_amount).toBe(0.04);
  for (const [field, value] of Object.entries({
    points_to_yuan: 0,
    order_points_rate: 0.00001,
    points_expire_days: -1,
  }))
    expect(await staffCall('PUT', 'config', { [field]: value })).toMatchObject({
      ...{ code: 400, message: expect.stringContaining(field) },
    });
  // A field of the form that is empty is 0, which no rate of exchange can be.
  const emptied = await staffCall('PUT', 'config', { order_points_rate: '', points_expire_days: '' });
  expect(emptied.data).toMatchObject({ order_points_rate: 0, points_expire_days: 0 });
  expect((await staffCall('PUT', 'config', { points_to_yuan: '' })).message).toMatch(/^points_to_yuan/);
  expect((await staffCall('PUT', 'config', before)).data).toEqual(before);
});

test('a form with a value that the configuration file sets changes the others; another value is refused by name', async () => {
  const data = await mkdtemp(join(tmpdir(), 'tradepost-points-'));
  const places = { databaseUrl: shop.database.url, data, secretsKeyFile: testKeyFile, databasePool: 4 };
  const { config } = loadConfig({
    env: {},
    flags: { ...places, port: 0, seed: 'none', only: 'api', adminPort: 'off' },
  });
  const fixed = { ...config, settings: { 'points.points_to_yuan': 50 } };
  const second = await startServer({ config: fixed, log: openLog({ level: 'silent' }) });
  try {
    const there = (method: string, body?: object) =>
      call(second.transport!.url, second.routes, method, '/admin/api/points/config', { token: at.staff, body });
    const form = (await there('GET')).data;
    expect(form.points_to_yuan).toBe(50);
    expect((await there('PUT', { ...form, points_expire_days: 365 })).data).toEqual({
      ...form,
      points_expire_days: 365,
    });
    const refused = await there('PUT', { ...form, points_to_yuan: 60 });
    expect(refused).toMatchObject({ code: 409, message: expect.stringContaining('points_to_yuan') });
    expect((await there('PUT', form)).data).toEqual(form);
  } finally {
    await second.stop();
    await rm(data, { recursive: true, force: true });
  }
});

test('the sums are those of the ledger before and after they are folded, and today is the day of the shop', async () => {
  const { sql } = shop.database;
  const buyer = await at.buyerWith(0);
  const stats = async () => (await staffCall('GET', 'stats')).data;
  const before = await stats();
  expectFields(
    before,
    'total_issued i, total_consumed i, total_balance i, product_count i, exchange_count i, today_issued i, today_consumed i',
  );
  await at.credit(buyer.id, 1_000, new Date(Date.now() - 3 * dayMs));
  await at.credit(buyer.id, 50);
  await adjust(buyer.id, -20);
  const after = {
    ...before,
    ...{ total_issued: before.total_issued + 1_050, total_consumed: before.total_consumed + 20 },
    ...{ total_balance: before.total_balance + 1_030 },
    ...{ today_issued: before.today_issued + 50, today_consumed: before.today_consumed + 20 },
  };
  expect(await stats()).toEqual(after);
  expect(await foldSums(sql)).toBeGreaterThan(0);
  await adjust(buyer.id, -1);
  expect(await stats()).toEqual({
    ...after,
    ...{ total_consumed: after.total_consumed + 1, today_consumed: after.today_consumed + 1 },
    total_balance: after.total_balance - 1,
  });
  // A day of another zone begins at another quarter of an hour.
  await at.credit(buyer.id, 7, new Date('2026-03-01T18:16:00Z'));
  await at.credit(buyer.id, 8, new Date('2026-03-01T18:14:59Z'));
  const since = async (start: string) => (await selectSums(sql, new Date(start))).today_issued;
  expect((await since('2026-03-01T18:00:00Z')) - (await since('2026-03-01T18:15:00Z'))).toBe(8);
});

test('points expire oldest first: what was spent does not expire, and nothing expires twice', async () => {
  const { sql, settings } = shop.server.runtime;
  const start = new Date('2025-01-01T00:00:00Z');
  const day = (days: number) => new Date(start.getTime() + days * dayMs);
  const run = (days: number) =>
    expirePoints({ sql, settings, now: () => day(days) }, { signal: new AbortController().signal });
  const buyer = await at.buyerWith(0);
  const untouched = await at.buyerWith(0);
  await at.credit(buyer.id, 100, day(0));
  await at.credit(buyer.id, 50, day(5));
  await at.credit(untouched.id, 10, day(20));
  // Without the setting nothing expires.
  expect(await run(1_000)).toBe(0);
  await settings.set('points.points_expire_days', 10);
  expect(await run(9)).toBe(0);
  const cancelled = await at.order(buyer, await at.skusAt(1_000), { points_use: 30, to: 'unpaid' });
  await at.order(buyer, await at.skusAt(1_000), { points_use: 40, to: 'unpaid' });
  // 70 of the oldest 100 are spent.
  expect(await run(11)).toBe(1);
  expect(await at.rowsOf(buyer)).toEqual([
    [2, -30],
    [2, -40],
    [6, -30],
  ]);
  // What comes back keeps its age.
  await at.send('POST', `/api/v1/orders/${cancelled.id}/cancel`, buyer.token);
  expect(await at.balanceOf(buyer)).toBe(80);
  await Promise.all([run(12), run(12), run(13)]);
  expect(await at.balanceOf(buyer)).toBe(50);
  await Promise.all([run(16), run(17)]);
  expect(await run(18)).toBe(0);
  expect([await at.balanceOf(buyer), await at.balanceOf(untouched)]).toEqual([0, 10]);
  const [row] = await sql<{ sum: number }[]>`
    select sum(points)::bigint as sum from points.logs where user_id = ${buyer.id} and type = 6`;
  expect(row!.sum).toBe(-110);
  await settings.unset('points.points_expire_days');
});
