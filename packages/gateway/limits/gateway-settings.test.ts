import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@tradepost/app';
import { loadConfig, openLog } from '@tradepost/runtime';
import { call } from '@tradepost/testing/client';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rateLimitSettings } from '../settings.ts';

/** Reading and changing limits over HTTP, on two instances of one database: `here` and `there`. */
let shop: Shop;
let second: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  second = await openShop({ databaseUrl: shop.database.url });
  staff = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
});
afterAll(async () => {
  await second?.close();
  await shop?.close();
});

const group = '/api/admin/settings/ratelimit.*';
type Row = { key: string; value: unknown; default: unknown; source: string };
const ask = (method: string, at: string, body?: unknown, of = shop) => of.call(method, at, { token: staff, body });
async function read(at = group, of = shop): Promise<Record<string, unknown>> {
  const { code, message, data } = await ask('GET', at, undefined, of);
  if (code !== 0) throw new Error(message);
  return Object.fromEntries((data as Row[]).map((row) => [row.key.replace('ratelimit.', ''), row.value]));
}
const trail = async (name: string) =>
  (await ask('GET', `/api/admin/settings/ratelimit.${name}/changes?size=100`)).data.list.map(
    (row: Record<string, unknown>) => [row.before, row.after, row.changed_by],
  );

test('all limits, or one of them, are read with value, default and source', async () => {
  const { data } = await ask('GET', group);
  expect(data.map((row: Row) => row.key).sort()).toEqual(
    Object.values(rateLimitSettings)
      .map((setting) => setting.key)
      .sort(),
  );
  expect(data.find((row: Row) => row.key === 'ratelimit.user_default_rpm')).toEqual({
    ...{ key: 'ratelimit.user_default_rpm', value: 60, default: 60, source: 'default' },
    about: rateLimitSettings.user_default_rpm.about,
  });
  expect(await read('/api/admin/settings/ratelimit.ip_rpm')).toEqual({ ip_rpm: 600 });
});

test('a change answers with all limits, is in force here at once and there by message, and null resets it', async () => {
  const at = '/api/admin/settings/ratelimit.user_default_rpm';
  const { data } = await ask('PATCH', at, { value: 120 });
  expect(data.find((row: Row) => row.key === 'ratelimit.user_default_rpm')).toMatchObject({
    ...{ value: 120, default: 60, source: 'table' },
  });
  expect(shop.server.runtime.settings.get(rateLimitSettings.user_default_rpm)).toBe(120);
  await vi.waitFor(async () => expect((await read(group, second)).user_default_rpm).toBe(120));
  expect((await ask('PATCH', at, { value: null })).code).toBe(0);
  expect(await read(at)).toEqual({ user_default_rpm: 60 });
  expect(await trail('user_default_rpm')).toEqual([
    [120, null, 'admin:7'],
    [null, 120, 'admin:7'],
  ]);
});

test.each([
  ['/api/admin/settings/ratelimit.*', { ip_rpm: 11 }],
  ['/api/admin/settings/ratelimit.%2A', { ip_rpm: 12 }],
  ['/api/admin/settings/ratelimit.%2a', { 'ratelimit.ip_rpm': 13 }],
  ['/api/admin/settings/ratelimit', { ip_rpm: 14 }],
  ['/api/admin/settings/system_settings.ratelimit.*', { 'system_settings.ratelimit.ip_rpm': 15 }],
  ['/api/admin/settings/ratelimit.ip_rpm', { value: 16 }],
  ['/api/admin/settings/system_settings.ratelimit.ip_rpm', { value: 17 }],
])('names with and without prefixes are accepted: PATCH %s %j', async (at, body) => {
  const answer = await ask('PATCH', at, body);
  expect(answer.code, answer.message).toBe(0);
  expect((await read(at)).ip_rpm).toBe(Object.values(body)[0]);
});

test('several settings change together, and an unchanged one is not in the trail', async () => {
  await ask('PATCH', group, { enabled: false, user_default_tpm: 5, model_default_tpm: 7 });
  const before = await trail('enabled');
  expect((await ask('PATCH', group, { enabled: false, user_default_tpm: 6, model_default_tpm: null })).code).toBe(0);
  expect(await read()).toMatchObject({ enabled: false, user_default_tpm: 6, model_default_tpm: 0 });
  expect(await trail('enabled')).toEqual(before);
  expect((await trail('user_default_tpm'))[0]).toEqual([5, 6, 'admin:7']);
  const { data } = await ask('GET', `${group}/changes?size=2&page=2`);
  expect([data.list.length, data.page, data.total > 4]).toEqual([2, 2, true]);
  await ask('PATCH', group, { enabled: null, user_default_tpm: null });
});

describe('a wrong change is refused as a whole and names the field', () => {
  test.each([
    [group, { ip_rpm: -1 }, 400, 'ip_rpm: '],
    [group, { enabled: false, ip_rpm: 1.5 }, 400, 'ip_rpm: must be a whole number from 0 to 1000000000000'],
    [group, { enabled: false, ip_rpm: '60' }, 400, 'ip_rpm: '],
    [group, { ip_rpm: 1e13 }, 400, 'ip_rpm: '],
    [group, { ip_rpm: [1] }, 400, 'ip_rpm: '],
    [group, { enabled: 0 }, 400, 'enabled: must be true or false'],
    [group, { enabled: false, store_deadline_ms: 0 }, 400, 'store_deadline_ms: must be a whole number from 1 to 10000'],
    [group, { enabled: false, ip_rpmm: 1 }, 400, 'ip_rpmm: '],
    [group, { enabled: false, __proto__x: 1 }, 400, '__proto__x: '],
    [group, { enabled: false, constructor: 1 }, 400, 'constructor: '],
    [group, { enabled: false, 'shop.time_zone': 'UTC' }, 400, 'shop.time_zone: '],
    [group, { enabled: false, 'ratelimit.enabled': true }, 400, 'ratelimit.enabled: '],
    [group, { value: 1 }, 400, 'value: '],
    [group, {}, 400, 'body'],
    [group, [1], 400, 'body'],
    ['/api/admin/settings/ratelimit.ip_rpm', {}, 400, 'value'],
    ['/api/admin/settings/ratelimit.ip_rpm', { value: 'x' }, 400, 'value: '],
    ['/api/admin/settings/ratelimit.ip_rpm', { value: 1, enabled: false }, 400, 'enabled: '],
    ['/api/admin/settings/ratelimit.nothing', { value: 1 }, 404, 'ratelimit.nothing'],
    ['/api/admin/settings/shop.time_zone', { value: 'UTC' }, 404, 'shop.time_zone'],
    ['/api/admin/settings/constructor', { value: 'UTC' }, 404, 'constructor'],
  ])('%s %j', async (at, body, code, named) => {
    const before = [await read(), await shop.database.sql`select * from runtime.setting_changes`];
    const answer = await ask('PATCH', at, body);
    expect(answer).toMatchObject({ code, data: null });
    expect(answer.message).toContain(named);
    expect([await read(), await shop.database.sql`select * from runtime.setting_changes`]).toEqual(before);
  });

  test('a setting of the configuration file, unless its value is sent unchanged', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradepost-limits-'));
    const file = join(folder, 'shop.json');
    await writeFile(file, JSON.stringify({ settings: { 'ratelimit.model_default_rpm': 30 } }));
    const flags = { databaseUrl: shop.database.url, data: folder, port: 0, seed: 'none', only: 'api', databasePool: 4 };
    const third = await startServer({
      config: loadConfig({ env: {}, file, flags }).config,
      log: openLog({ level: 'silent' }),
    });
    try {
      const change = (model_default_rpm: unknown) =>
        call(third.transport!.url, third.routes, 'PATCH', group, {
          token: staff,
          body: { model_default_rpm, store_deadline_ms: 60 },
        });
      for (const value of [31, null])
        expect(await change(value)).toMatchObject({
          code: 409,
          message: expect.stringContaining('model_default_rpm'),
        });
      expect((await read()).store_deadline_ms).toBe(50);
      const { code, data } = await change(30);
      expect(code).toBe(0);
      expect(data.find((row: Row) => row.key === 'ratelimit.model_default_rpm')).toMatchObject({
        ...{ value: 30, default: 0, source: 'file' },
      });
      await vi.waitFor(async () => expect((await read()).store_deadline_ms).toBe(60));
    } finally {
      await third.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('an administrator without the permission, and a shopper', async () => {
    const clerk = await shop.server.tokens.issue({ role: 'admin', id: 8, perms: ['order:view'] });
    const { token } = await shop.shopper();
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { enabled: false }],
    ] as const)
      for (const each of [clerk, token])
        expect(await shop.call(method, group, { token: each, body })).toMatchObject({ code: 403 });
  });

  test('settings outside the rate limiter are not shown', async () => {
    for (const key of ['shop.time_zone', 'pay.sandbox.secret', 'ratelimit.', '*', '%00'])
      expect([400, 404]).toContain((await ask('GET', `/api/admin/settings/${key}`)).code);
  });
});

test('concurrent changes: each begins with the values that the previous one left', async () => {
  const name = 'model_default_tpm';
  const from = (await trail(name)).length;
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => ask('PATCH', group, { [name]: n + 1, ip_rpm: n }, n % 2 ? shop : second)),
  );
  const rows = (await trail(name)).reverse().slice(from);
  expect(rows).toHaveLength(20);
  expect(rows.map(([before]: unknown[]) => before).slice(1)).toEqual(
    rows.map(([, after]: unknown[]) => after).slice(0, -1),
  );
  await vi.waitFor(async () => expect((await read())[name]).toBe(rows.at(-1)![1]));
});

test('changes of the site settings name their author', async () => {
  const site = '/admin/api/site-settings';
  expect((await ask('PUT', site, { site_name: 'Teahouse' })).code).toBe(0);
  const { rows } = await shop.server.runtime.settings.changes({ limit: 1 });
  expect(rows[0]).toMatchObject({ before: null, after: 'Teahouse', changed_by: 'admin:7' });
});
