import { randomUUID } from 'node:crypto';
import { AppError } from '@tradepost/core';
import { pointsType, writePoints } from '@tradepost/points';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { chinese, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { checkIn as checkInMany } from './daily/check-in.ts';

/** Daily check-ins: once a day, streaks over midnight and over a change of the zone, points by the rules of the shop. */
let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['checkin:view', 'checkin:config'] });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await shop.server.runtime.settings.set('shop.time_zone', 'Asia/Shanghai');
});
afterAll(() => shop?.close());

/** Sets the clock of the shop. The time is in the zone of the default, Asia/Shanghai. */
const at = (time: string) => vi.spyOn(shop.server.runtime, 'now').mockReturnValue(new Date(`${time}+08:00`));
const checkIn = (token: string, options: { lang?: string; headers?: Record<string, string> } = {}) =>
  shop.call('POST', '/api/v1/checkin', { token, ...options });
const status = async (token: string) => (await shop.call('GET', '/api/v1/checkin/status', { token })).data;
const admin = (method: string, path: string, body?: unknown, token = staff) =>
  shop.call(method, `/admin/api/checkin${path}`, { token, body });
const defaults = [
  { day: 0, points: 10 },
  { day: 3, points: 20 },
  { day: 7, points: 50 },
];

test('a new shop has the default rules, for shoppers and staff', async () => {
  const { token } = await shop.shopper();
  const { data } = await shop.call('GET', '/api/v1/checkin/rules', { token });
  expect(data).toMatchObject(defaults);
  for (const rule of data) expectFields(rule, 'id i, day i, points i');
  expect((await admin('GET', '/rules')).data).toEqual(data);
});

test('seven days in a row earn the points of their rules, a missed day begins again, and the status shows it', async () => {
  const { token, id } = await shop.shopper();
  expect(await status(token)).toEqual({
    checked_today: false,
    consecutive_days: 0,
    month_dates: [],
    month_count: 0,
    month_points: 0,
  });
  const earned: number[][] = [];
  for (const day of ['01-30', '01-31', '02-01', '02-02', '02-03', '02-04', '02-05', '02-06', '02-08']) {
    at(`2026-${day}T12:00:00`);
    const { data } = await checkIn(token);
    expectFields(data, 'points i, consecutive_days i');
    earned.push([data.consecutive_days, data.points]);
  }
  expect(earned).toEqual([
    [1, 10],
    [2, 10],
    [3, 20],
    [4, 20],
    [5, 20],
    [6, 20],
    [7, 50],
    [8, 50],
    [1, 10],
  ]);
  const expected = {
    checked_today: true,
    consecutive_days: 1,
    month_dates: ['01', '02', '03', '04', '05', '06', '08'].map((day) => `2026-02-${day}`),
    month_count: 7,
    month_points: 190,
  };
  const now = await status(token);
  expectFields(now, 'checked_today b, consecutive_days i, month_dates [], month_count i, month_points i');
  expect(now).toEqual(expected);
  at('2026-02-09T23:59:59');
  expect(await status(token)).toEqual({ ...expected, checked_today: false });
  at('2026-02-10T00:00:00');
  expect(await status(token)).toEqual({ ...expected, checked_today: false, consecutive_days: 0 });
  at('2026-03-01T00:00:00');
  expect(await status(token)).toMatchObject({ month_dates: [], month_count: 0, month_points: 0 });
  const remarkIn = async (lang: string) => {
    const { data } = await shop.call('GET', '/api/v1/user/points/logs', { token, lang });
    const { type, points, remark } = data.list[0];
    expect([type, points]).toEqual([1, 10]);
    return remark;
  };
  // In the language of the reader. A row that an older version stored keeps its text.
  expect([await remarkIn('en'), await remarkIn('zh-CN')]).toEqual(['Check-in, day 1', '签到，连续第 1 天']);
  const { sql } = shop.database;
  await sql`update points.logs set remark = 'Day 1' where id = (select max(id) from points.logs where user_id = ${id})`;
  expect(await remarkIn('zh-CN')).toBe('Day 1');
});

test('a second check-in of the day is refused; the day ends at midnight of the shop', async () => {
  const { token } = await shop.shopper();
  at('2026-02-10T00:00:00');
  expect((await checkIn(token)).data).toEqual({ points: 10, consecutive_days: 1 });
  at('2026-02-10T23:59:59');
  expect(await checkIn(token, { lang: 'en' })).toMatchObject({ status: 200, code: 30001, data: null });
  expect((await checkIn(token, { lang: 'zh-CN' })).message).toMatch(chinese);
  at('2026-02-11T00:00:00');
  expect((await checkIn(token)).data).toEqual({ points: 10, consecutive_days: 2 });
});

test('a changed zone gives no second check-in of a day, and no day before the last one', async () => {
  const { token } = await shop.shopper();
  const zone = (name: string) => shop.server.runtime.settings.set('shop.time_zone', name);
  at('2026-02-11T07:00:00');
  await zone('America/New_York'); // 10 February, 18:00
  expect((await checkIn(token)).data.consecutive_days).toBe(1);
  await zone('Asia/Shanghai'); // 11 February
  expect((await checkIn(token)).data.consecutive_days).toBe(2);
  await zone('America/New_York');
  expect(await status(token)).toMatchObject({ checked_today: true, consecutive_days: 2 });
  expect((await checkIn(token)).code).toBe(30001);
  at('2026-02-12T07:00:00'); // 11 February again
  expect((await checkIn(token)).code).toBe(30001);
  const other = await shop.shopper();
  await zone('Asia/Shanghai');
  await checkIn(other.token); // 12 February
  await zone('America/New_York');
  expect((await checkIn(other.token)).code, 'the day before the last check-in').toBe(30001);
});

test.each([
  // 23 hours: the clock goes from 02:00 to 03:00 on 8 March.
  [
    'America/New_York',
    ['2026-03-07T23:59:59-05:00', '2026-03-08T00:00:00-05:00', '2026-03-09T00:00:00-04:00'],
    '03-08',
  ],
  // 25 hours: the clock goes back from 02:00 to 01:00 on 1 November.
  [
    'America/New_York',
    ['2026-10-31T23:59:59-04:00', '2026-11-01T00:00:00-04:00', '2026-11-02T00:00:00-05:00'],
    '11-01',
  ],
  // A day without midnight: the clock goes from 00:00 to 01:00 on 8 March.
  ['America/Havana', ['2026-03-07T23:59:59-05:00', '2026-03-08T01:00:00-04:00', '2026-03-09T00:00:00-04:00'], '03-08'],
])('in %s a streak continues over a change to or from daylight saving time: %j', async (zone, days, changed) => {
  const { token } = await shop.shopper();
  await shop.server.runtime.settings.set('shop.time_zone', zone);
  const atInstant = (instant: number) => vi.spyOn(shop.server.runtime, 'now').mockReturnValue(new Date(instant));
  for (const [index, day] of days.entries()) {
    // Within a second before this day it is still the day before.
    atInstant(Date.parse(day) - 1);
    if (index > 0) expect((await checkIn(token)).code, `before ${day}`).toBe(30001);
    atInstant(Date.parse(day));
    expect((await checkIn(token)).data?.consecutive_days, day).toBe(index + 1);
    expect(await status(token), day).toMatchObject({ checked_today: true, consecutive_days: index + 1 });
  }
  const { list } = (await admin('GET', '/logs?size=3')).data;
  expect(list[1].date).toBe(`2026-${changed}`);
});

test('50 check-ins of one shopper at once are one, also with 20 shoppers at the same time', async () => {
  at('2026-02-14T12:00:00');
  const shoppers = await Promise.all(Array.from({ length: 20 }, () => shop.shopper()));
  const [first, ...others] = shoppers;
  const answers = await Promise.all([
    ...Array.from({ length: 50 }, () => checkIn(first!.token)),
    ...others.flatMap(({ token }) => [checkIn(token), checkIn(token)]),
  ]);
  expect(answers.slice(0, 50).filter(({ code }) => code === 0)).toHaveLength(1);
  expect(answers.filter(({ code }) => code === 0)).toHaveLength(20);
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 30001]));
  const [sum] = await shop.database.sql`
    select count(*)::int as rows, sum(points)::int as points from points.logs
    where type = 1 and user_id = any(${shoppers.map(({ id }) => id)}::bigint[])`;
  expect(sum).toEqual({ rows: 20, points: 200 });
});

test('an account that is full is refused, and the other check-ins of its batch succeed', async () => {
  at('2026-02-15T12:00:00');
  const { sql, settings } = shop.server.runtime;
  const now = () => shop.server.runtime.now();
  const ids = (await Promise.all([1, 2, 3].map(() => shop.shopper()))).map(({ id }) => id);
  const entry = { user_id: ids[1]!, points: 1_000_000_000_000, type: pointsType.adjustment, related_id: 0, remark: '' };
  await sql.begin((tx) => writePoints(tx, [{ ...entry, key: 'test:full' }], now()));
  const outcomes = await checkInMany({ sql, settings, now }, [...ids, ids[1]!]);
  const shown = outcomes.map((outcome) => (outcome instanceof AppError ? outcome.code : outcome));
  expect(shown).toMatchObject([{ points: 10 }, 30001, { points: 10 }, 30001]);
  const rows = await sql`select user_id from checkin.streaks where user_id = any(${ids}::bigint[])`;
  // The shoppers registered at once: their ids are in any order.
  expect(new Set(rows.map(({ user_id }) => user_id))).toEqual(new Set([ids[0], ids[2]]));
});

test('a repeat with its Idempotency-Key gets the first answer, also after a crash', async () => {
  at('2026-02-16T12:00:00');
  const { token, id } = await shop.shopper();
  const headers = { 'idempotency-key': randomUUID() };
  const first = await checkIn(token, { headers });
  await shop.database.sql`
    update runtime.idempotency_keys set answer = null, status = null, code = null, instance = 'gone'
    where key = ${headers['idempotency-key']}`;
  expect((await checkIn(token, { headers })).body).toEqual(first.body);
  const rows = await shop.database.sql`select points from points.logs where user_id = ${id}`;
  expect(rows).toHaveLength(1);
});

test('staff replace all rules with a bare array; a rule whose day stays keeps its id', async () => {
  const before = (await admin('GET', '/rules')).data;
  const rules = [
    { day: '2', points: '15', id: 99, remark: 'x' },
    // How a form sends fields that are empty.
    { day: '', points: '' },
    { day: 3, points: 20 },
  ];
  expect(await admin('PUT', '/rules', rules)).toMatchObject({ code: 0, data: null });
  const after = (await admin('GET', '/rules')).data;
  expect(after.map(({ day, points }: { day: number; points: number }) => [day, points])).toEqual([
    [0, 0],
    [2, 15],
    [3, 20],
  ]);
  expect([after[0].id, after[2].id]).toEqual([before[0].id, before[1].id]);
  at('2026-02-17T12:00:00');
  const { token, id } = await shop.shopper();
  expect((await checkIn(token)).data).toEqual({ points: 0, consecutive_days: 1 });
  expect(await shop.database.sql`select from points.logs where user_id = ${id}`).toHaveLength(0);
  at('2026-02-18T12:00:00');
  expect((await checkIn(token)).data).toEqual({ points: 15, consecutive_days: 2 });
  // Without any rule a check-in gives 10 points.
  await admin('PUT', '/rules', []);
  expect((await admin('GET', '/rules')).data).toEqual([]);
  at('2026-02-19T12:00:00');
  expect((await checkIn(token)).data).toEqual({ points: 10, consecutive_days: 3 });
  await admin('PUT', '/rules', defaults);
});

test.each<[string, unknown, string]>([
  [
    'a day twice',
    [
      { day: 1, points: 5 },
      { day: 1, points: 6 },
    ],
    'day 1',
  ],
  ['a negative day', [{ day: -1, points: 5 }], '[0].day'],
  ['a day above ten years', [{ day: 3_651, points: 5 }], '[0].day'],
  ['negative points', [{ day: 1, points: -5 }], '[0].points'],
  ['too many points', [{ day: 1, points: 100_001 }], '[0].points'],
  ['half a point', [{ day: 1, points: 1.5 }], '[0].points'],
  ['an object', { day: 1, points: 5 }, 'body'],
  ['too many rules', Array.from({ length: 101 }, (_, day) => ({ day, points: 1 })), 'body'],
])('rules with %s are refused by name and change nothing', async (_what, rules, named) => {
  const before = (await admin('GET', '/rules')).data;
  const answer = await shop.call('PUT', '/admin/api/checkin/rules', { token: staff, body: rules, lang: 'en' });
  expect(answer).toMatchObject({ status: 200, code: 400, message: expect.stringContaining(named) });
  expect((await admin('GET', '/rules')).data).toEqual(before);
});

test('staff list the check-ins, newest first; a shopper and a clerk without the permission do not', async () => {
  at('2026-02-20T12:00:00');
  const { token, id, username } = await shop.shopper();
  await checkIn(token);
  at('2026-02-21T12:00:00');
  await checkIn(token);
  const { data } = await admin('GET', '/logs?page=&size=1000');
  for (const row of data.list) expectFields(row, 'id i, user_id i, date s, consecutive_days i, points i');
  expect(data.list[0]).toMatchObject({ user_id: id, user_nickname: username, date: '2026-02-21', consecutive_days: 2 });
  const mine = (await admin('GET', `/logs?user_id=${id}&page=2&size=1`)).data;
  expect(mine).toMatchObject({ total: 2, page: 2, size: 1, list: [{ date: '2026-02-20', points: 10 }] });
  expect((await admin('GET', '/logs', undefined, token)).code).toBe(403);
  const clerk = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: ['checkin:view'] });
  expect((await admin('PUT', '/rules', [], clerk)).code).toBe(403);
  expect((await shop.call('POST', '/api/v1/checkin')).status).toBe(401);
});

test('a check-in is an event', async () => {
  at('2026-02-22T12:00:00');
  const { token, id } = await shop.shopper();
  await checkIn(token);
  const events = await shop.database.sql`
    select data from runtime.outbox where name = 'shopper.checked_in' and subject = ${`shopper:${id}`}`;
  expect(events).toEqual([
    { data: { checkin_id: expect.any(Number), user_id: id, date: '2026-02-22', consecutive_days: 1, points: 10 } },
  ]);
  await dispatchEvents(shop);
});

test('after all of this the audits find nothing', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
