import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rollDays } from '../days/roll-days.ts';
import { maxStaySeconds, visitsPerMinute } from '../limits.ts';
import { channelOf, deviceOf, isBot, pageOf } from './classify-visit.ts';

let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop({ trustedProxies: ['127.0.0.1'] });
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['order:view'] });
});
afterAll(() => shop?.close());
beforeEach(async () => {
  await shop.database.sql`truncate analytics.visit_counts, analytics.visitors`;
});

const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148';
const desktop = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/140.0';
const visit = (body: object, { agent = desktop, from = '203.0.113.7' } = {}) =>
  shop.call('POST', '/api/v1/visits', { body, headers: { 'user-agent': agent, 'x-forwarded-for': from } });
const traffic = async () =>
  (await shop.call('GET', '/admin/api/analytics/traffic?days=7', { token: staff, lang: 'en' })).data;
const values = (pie: { name: string; value: number }[]) =>
  Object.fromEntries(pie.filter(({ value }) => value > 0).map(({ name, value }) => [name, value]));

test('page views, visitors, bounces, channels, devices and stays are counted', async () => {
  await visit({ path: '/', referrer: 'https://www.google.com/search' });
  await visit({ path: '/products/3' });
  await visit({ path: '/products/3', stay_seconds: 30 });
  await visit({ path: '/cart', stay_seconds: 999_9 });
  await visit({ path: '/', campaign: 'autumn' }, { agent: phone, from: '203.0.113.8' });
  const answer = await traffic();
  expect(answer.summary).toEqual({
    total_pv: 3,
    total_uv: 2,
    avg_stay_seconds: (30 + maxStaySeconds) / 2,
    bounce_rate: 50,
  });
  expect(values(answer.channel_distribution)).toEqual({ Search: 1, Campaign: 1 });
  expect(values(answer.device_distribution)).toEqual({ Desktop: 1, Mobile: 1 });
  expect(answer.page_stay.series[0].data).toEqual([0, 0, 30, maxStaySeconds, 0]);
  expect(answer.pv_uv_trend.series.map(({ data }: { data: number[] }) => data.at(-1))).toEqual([3, 2]);
  const conversion = await shop.call('GET', '/admin/api/analytics/conversion?days=1', { token: staff });
  expect(conversion.data.funnel.map(({ count, rate }: Record<string, number>) => [count, rate])).toEqual([
    [2, 100],
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
});

test('without visits the report has zeros of full length', async () => {
  const answer = await traffic();
  expect(answer.summary).toEqual({ total_pv: 0, total_uv: 0, avg_stay_seconds: 0, bounce_rate: 0 });
  expect(answer.pv_uv_trend.categories).toHaveLength(7);
  expect([answer.channel_distribution, answer.device_distribution].map((pie) => pie.length)).toEqual([5, 4]);
});

test('crawlers, repeated messages and messages above the limit of a network are answered and not counted', async () => {
  expect((await visit({ path: '/' }, { agent: 'Googlebot/2.1' })).data).toBeNull();
  expect((await visit({ path: '/' }, { agent: '' })).data).toBeNull();
  for (const _ of [1, 2, 3]) await visit({ path: '/', page_load: 'same' });
  expect((await traffic()).summary.total_pv).toBe(1);
  for (let n = 0; n < visitsPerMinute + 5; n += 1)
    expect((await visit({ path: '/' }, { from: '198.51.100.9' })).code).toBe(0);
  expect((await traffic()).summary).toMatchObject({ total_pv: 1 + visitsPerMinute, total_uv: 2 });
});

test('concurrent visits of many visitors are all counted', async () => {
  const visitors = Array.from({ length: 60 }, (_, n) => `2001:db8:${n}::1`);
  await Promise.all([...visitors, ...visitors].map((from) => visit({ path: '/' }, { from })));
  expect((await traffic()).summary).toMatchObject({ total_pv: 120, total_uv: 60, bounce_rate: 0 });
});

test('nothing that is stored names a visitor, and what recognises visitors is deleted after their day', async () => {
  await visit({ path: '/orders/31?phone=13800000000', referrer: 'https://example.com/anna' });
  const { sql } = shop.database;
  const stored = JSON.stringify(
    await sql`
    select to_jsonb(v) as row from analytics.visitors v union all select to_jsonb(c) from analytics.visit_counts c`,
  );
  for (const secret of ['203.0.113.7', 'Firefox', '13800000000', 'anna', 'orders/31'])
    expect(stored).not.toContain(secret);
  const count = async () => (await sql`select count(*)::int as n from analytics.visitors`)[0]!.n;
  await rollDays(shop.server.runtime);
  expect(await count()).toBe(1);
  await sql`update analytics.visitors set day = day - 1`;
  await sql`update analytics.visit_salts set day = day - 1`;
  await rollDays(shop.server.runtime);
  expect(await count()).toBe(0);
  expect(await sql`select 1 from analytics.visit_salts`).toHaveLength(0);
});

test.each([
  [{ path: 'x'.repeat(501) }, 'path'],
  [{}, 'path'],
  [{ path: '/', stay_seconds: -1 }, 'stay_seconds'],
  [{ path: '/', device: 'fridge' }, 'device'],
  [{ path: '/', page_load: 'y'.repeat(65) }, 'page_load'],
])('%j is refused by the name of the field', async (body, field) => {
  const { code, message } = await visit(body);
  expect([code, message]).toEqual([400, expect.stringContaining(field)]);
});

test('pages, channels and devices are recognised', () => {
  const pages = ['/', '/#/pages/index/index', '/products?page=2', '/product/12', '/pages/cart/cart', '/user'];
  expect(pages.map(pageOf)).toEqual(['home', 'home', 'list', 'product', 'cart', 'other']);
  expect(pageOf('/products/12#reviews')).toBe('product');
  const from = (referrer: string) => channelOf({ referrer, campaign: '', ownHost: 'shop.example' });
  expect(
    ['', 'https://shop.example/a', 'https://www.baidu.com/s', 'https://weibo.com/x', 'https://a.example', 'no url'].map(
      from,
    ),
  ).toEqual([...['direct', 'direct', 'search', 'social', 'referral', 'direct']]);
  expect([phone, desktop, 'Mozilla/5.0 (iPad; CPU OS 18)', 'AppleTV'].map(deviceOf)).toEqual([
    'mobile',
    'desktop',
    'tablet',
    'other',
  ]);
  expect([phone, desktop, 'curl/8.0', ''].map(isBot)).toEqual([false, false, true, true]);
});
