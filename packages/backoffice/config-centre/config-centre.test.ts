import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@tradepost/app';
import { loadConfig, openLog } from '@tradepost/runtime';
import { call } from '@tradepost/testing/client';
import { chinese } from '@tradepost/testing/routes/contract';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements } from '@tradepost/testing/statements';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

type Field = {
  key: string;
  label: string;
  type: string;
  options?: { value: string; label: string }[];
  fixed?: boolean;
};
type Plugin = { plugin: string; title: string; fields: Field[] };

let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['system:config'] });
});
afterAll(() => shop?.close());
beforeEach(() => shop.server.runtime.settings.setMany({}, { unset: Object.keys(fieldTypes).flatMap(settingsOf) }));

const admin = (method: string, path: string, body?: object, lang?: string) =>
  shop.call(method, `/admin/api${path}`, { token, body, ...(lang ? { lang } : {}) });
const valuesOf = async (plugin: string) => (await admin('GET', `/config/${plugin}`)).data as Record<string, string>;
const effective = (key: string) => shop.server.runtime.settings.list().find((row) => row.key === key)!;
const settingsOf = (plugin: string) => Object.keys(fieldTypes[plugin]!).map((key) => `${plugin}.${key}`);

/** The plugins, keys and types of the contract. */
const fieldTypes: Record<string, Record<string, string>> = {
  storage_router: { default_driver: 'select' },
  storage_local: { upload_dir: 'text', base_url: 'text' },
  storage_oss: { endpoint: 'text', bucket: 'text', access_key_id: 'text', access_key_secret: 'password' },
  storage_cos: { region: 'text', bucket: 'text', secret_id: 'text', secret_key: 'password' },
  storage_qiniu: { zone: 'text', bucket: 'text', access_key: 'text', secret_key: 'password', domain: 'text' },
  logistics_router: {
    enabled: 'switch',
    primary_driver: 'select',
    secondary_driver: 'select',
    polling_enabled: 'switch',
    polling_interval_seconds: 'number',
    polling_batch_size: 'number',
  },
  logistics_kuaidi100: { api_url: 'text', customer: 'text', key: 'password' },
  logistics_kdniao: { api_url: 'text', ebusiness_id: 'text', api_key: 'password' },
  delivery_router: { delivery_mode: 'select' },
  delivery_local: { default_rider_name: 'text', default_rider_phone: 'text' },
  wechat_pay: {
    ...{ app_id: 'text', mch_id: 'text', serial_no: 'text', private_key: 'password', api_v3_key: 'password' },
    ...{ notify_url: 'text', api_key: 'password', public_key_id: 'text', public_key: 'textarea' },
  },
  alipay: { app_id: 'text', private_key: 'password', public_key: 'textarea', sandbox: 'switch', notify_url: 'text' },
  stripe: { secret_key: 'password', webhook_secret: 'password' },
  sms: { provider: 'select', access_key: 'text', secret_key: 'password', sign_name: 'text' },
  wechat_auth: { mini_app_id: 'text', mini_app_secret: 'password', h5_app_id: 'text', h5_app_secret: 'password' },
  external_wms: { endpoint: 'text', app_key: 'text', app_secret: 'password' },
};

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys = {
  own: pair.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
  theirs: pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
};

/** A form of each plugin, as the console sends it. */
const forms: Record<string, Record<string, string>> = {
  storage_router: { default_driver: 'oss' },
  storage_local: { upload_dir: 'pictures', base_url: 'https://cdn.example/up' },
  storage_oss: {
    endpoint: 'oss-cn-hangzhou.aliyuncs.com',
    bucket: 'b',
    access_key_id: 'k',
    access_key_secret: 'hunter2',
  },
  storage_cos: { region: 'ap-guangzhou', bucket: 'b-125', secret_id: 'k', secret_key: 'hunter2' },
  storage_qiniu: { zone: 'z0', bucket: 'b', access_key: 'k', secret_key: 'hunter2', domain: 'cdn.example' },
  logistics_router: {
    enabled: 'false',
    primary_driver: 'kdniao',
    secondary_driver: '',
    polling_enabled: 'true',
    polling_interval_seconds: '60',
    polling_batch_size: '10',
  },
  logistics_kuaidi100: { api_url: 'http://127.0.0.1:9/poll', customer: 'C', key: 'hunter2' },
  logistics_kdniao: { api_url: 'http://127.0.0.1:9/query', ebusiness_id: '100', api_key: 'hunter2' },
  delivery_router: { delivery_mode: 'both' },
  delivery_local: { default_rider_name: 'Li', default_rider_phone: '13800000000' },
  wechat_pay: {
    ...{
      app_id: 'wx1',
      mch_id: '1900000001',
      serial_no: 'A1',
      private_key: keys.own,
      api_v3_key: 'hunter2'.padEnd(32, '-'),
    },
    ...{
      notify_url: 'https://shop.example/notify',
      api_key: 'hunter2',
      public_key_id: 'PUB_KEY_ID_1',
      public_key: keys.theirs,
    },
  },
  alipay: {
    ...{ app_id: '2021', private_key: keys.own, public_key: keys.theirs, sandbox: 'true' },
    notify_url: 'https://shop.example/notify',
  },
  stripe: { secret_key: 'sk_test_hunter2', webhook_secret: 'whsec_hunter2hunter2' },
  sms: { provider: 'tencent', access_key: 'AK', secret_key: 'hunter2', sign_name: '商店' },
  wechat_auth: { mini_app_id: 'wx1', mini_app_secret: 'hunter2', h5_app_id: 'wx2', h5_app_secret: 'hunter3' },
  external_wms: { endpoint: 'http://127.0.0.1:9', app_key: 'shop', app_secret: 'hunter2' },
};

describe('the schemas', () => {
  test('are a bare list of the plugins of the contract, with their keys and types', async () => {
    const { data } = await admin('GET', '/config/schemas');
    const found = (data as Plugin[]).map(({ plugin, fields }) => [plugin, fields.map(({ key, type }) => [key, type])]);
    expect(found).toEqual(Object.entries(fieldTypes).map(([plugin, types]) => [plugin, Object.entries(types)]));
    for (const { fields } of data as Plugin[])
      for (const { type, options } of fields) {
        expect(options !== undefined).toBe(type === 'select');
        for (const option of options ?? []) expect(Object.keys(option).sort()).toEqual(['label', 'value']);
      }
    const sms = (data as Plugin[]).find(({ plugin }) => plugin === 'sms')!;
    expect(sms.fields[0]!.options!.map(({ value }) => value)).toEqual(expect.arrayContaining(['aliyun', 'tencent']));
  });

  test('are in the language of the request', async () => {
    const inChinese = (await admin('GET', '/config/schemas', undefined, 'zh-CN')).data as Plugin[];
    for (const { title } of inChinese) expect(title).toMatch(chinese);
    const inEnglish = JSON.stringify((await admin('GET', '/config/schemas', undefined, 'en')).data);
    expect(inEnglish).not.toMatch(chinese);
  });

  test('have the current value among the options, also when it is another name of a driver', async () => {
    await shop.server.runtime.settings.set('storage_router.default_driver', 'aliyun_oss');
    const { data } = await admin('GET', '/config/schemas');
    const values = (data as Plugin[])[0]!.fields[0]!.options!.map(({ value }) => value);
    expect(values).toEqual(['local', 'oss', 'cos', 'qiniu', 'aliyun_oss']);
  });
});

describe('the values', () => {
  test.each(Object.keys(forms))('of %s come back as they were saved, secrets masked, and are used', async (plugin) => {
    const form = forms[plugin]!;
    const before = await valuesOf(plugin);
    for (const value of Object.values(before)) expect(typeof value).toBe('string');
    expect(await admin('PUT', `/config/${plugin}`, form)).toMatchObject({ code: 0, data: null });
    const isSecret = (key: string) => fieldTypes[plugin]![key] === 'password';
    const masked = Object.fromEntries(Object.entries(form).map(([key, v]) => [key, isSecret(key) ? '***' : v]));
    expect(await valuesOf(plugin)).toEqual(masked);
    for (const [key, value] of Object.entries(form)) expect(String(effective(`${plugin}.${key}`).value)).toBe(value);
    // The form that the console shows is sent back whole: nothing changes.
    const changes = () => shop.database.sql`select count(*)::int as n from runtime.setting_changes`;
    const [counted] = await changes();
    await admin('PUT', `/config/${plugin}`, masked);
    expect(await changes()).toEqual([counted]);
    // Empty texts restore the defaults, and clear secrets.
    await admin('PUT', `/config/${plugin}`, Object.fromEntries(Object.keys(form).map((key) => [key, ''])));
    const cleared = await valuesOf(plugin);
    expect(cleared).toEqual(plugin === 'logistics_router' ? { ...before, secondary_driver: '' } : before);
  });

  test('of defaults that a form sends back stay defaults', async () => {
    await admin('PUT', '/config/logistics_router', await valuesOf('logistics_router'));
    for (const key of settingsOf('logistics_router')) expect(effective(key).source, key).toBe('default');
  });

  test('are merged: absent and null keys stay, unknown keys of any form are ignored', async () => {
    await admin('PUT', '/config/sms', forms.sms);
    const form = { sign_name: 'New', access_key: null, unknown: { deep: [1] }, __proto__: 'x', constructor: '1' };
    expect(await admin('PUT', '/config/sms', form)).toMatchObject({ code: 0 });
    expect(await valuesOf('sms')).toEqual({ ...forms.sms, secret_key: '***', sign_name: 'New' });
    expect(await admin('PUT', '/config/sms', {})).toMatchObject({ code: 0 });
  });

  test('may be numbers and booleans instead of texts, and a switch may be 1 or on', async () => {
    await admin('PUT', '/config/logistics_router', {
      polling_interval_seconds: 90,
      polling_enabled: true,
      enabled: '0',
    });
    expect(await valuesOf('logistics_router')).toMatchObject({
      ...{ polling_interval_seconds: '90', polling_enabled: 'true', enabled: 'false' },
    });
    await admin('PUT', '/config/logistics_kdniao', { ebusiness_id: 1001 });
    expect(await valuesOf('logistics_kdniao')).toMatchObject({ ebusiness_id: '1001' });
  });

  test.each([
    ['logistics_router', { polling_interval_seconds: '5' }],
    ['logistics_router', { polling_batch_size: '1.5' }],
    ['logistics_router', { polling_batch_size: 'many' }],
    ['logistics_router', { enabled: 'perhaps' }],
    ['logistics_router', { primary_driver: 'dhl' }],
    ['delivery_router', { delivery_mode: { a: 1 } }],
    ['delivery_local', { default_rider_name: 'x'.repeat(65) }],
    ['storage_local', { base_url: 'javascript:alert(1)' }],
    ['storage_local', { upload_dir: 'a\0b' }],
    ['storage_oss', { bucket: 'two words' }],
    ['external_wms', { endpoint: 'ftp://partner' }],
    ['external_wms', { app_secret: ['hunter2'] }],
    ['sms', { access_key: '空' }],
  ])(
    'of %s that are not valid are refused in both languages, with the key and without the rest of the form',
    async (plugin, wrong) => {
      const [key] = Object.keys(wrong) as [string];
      const before = await valuesOf(plugin);
      const [other] = Object.keys(fieldTypes[plugin]!).filter((one) => one !== key);
      const form = { ...(other ? { [other]: forms[plugin]![other]! } : {}), ...wrong };
      for (const lang of ['en', 'zh-CN']) {
        const answer = await admin('PUT', `/config/${plugin}`, form, lang);
        expect(answer).toMatchObject({ status: 200, code: 400, message: expect.stringContaining(key) });
        if (lang === 'zh-CN') expect(answer.message).toMatch(chinese);
        expect(answer.message).not.toContain('hunter2');
      }
      expect(await valuesOf(plugin)).toEqual(before);
    },
  );

  test('of a plugin that no running module has are refused', async () => {
    for (const name of ['im', 'site', 'orders', '__proto__', 'toString']) {
      expect(await admin('GET', `/config/${name}`)).toMatchObject({
        code: 404,
        message: expect.stringContaining(name),
      });
      expect(await admin('PUT', `/config/${name}`, { a: '1' })).toMatchObject({ code: 404 });
    }
  });

  test('of disjoint keys that are saved at the same time are all stored', async () => {
    await Promise.all(
      Object.entries(forms.wechat_auth!).map(([key, value]) => admin('PUT', '/config/wechat_auth', { [key]: value })),
    );
    for (const [key, value] of Object.entries(forms.wechat_auth!))
      expect(effective(`wechat_auth.${key}`).value).toBe(value);
  });

  test('need system:config', async () => {
    const clerk = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['system:admin'] });
    for (const [method, path] of [
      ['GET', '/config/schemas'],
      ['GET', '/config/sms'],
      ['PUT', '/config/sms'],
      ['GET', '/system/sms/config'],
      ['PUT', '/system/sms/config'],
    ] as const)
      expect(
        await shop.call(method, `/admin/api${path}`, { token: clerk, ...(method === 'PUT' ? { body: {} } : {}) }),
      ).toMatchObject({ code: 403 });
  });
});

describe('secrets', () => {
  test('are never answered, and the mask leaves them unchanged on every endpoint', async () => {
    await admin('PUT', '/config/sms', { secret_key: 'hunter2-of-sms' });
    for (const path of ['/config/sms', '/system/sms/config']) {
      expect(await admin('PUT', path, { secret_key: '***', sign_name: `by ${path}` })).toMatchObject({ code: 0 });
      const answer = await admin('GET', path);
      expect(answer.data).toMatchObject({ secret_key: '***', sign_name: `by ${path}` });
      expect(JSON.stringify(answer)).not.toContain('hunter2');
      expect(effective('sms.secret_key').value).toBe('hunter2-of-sms');
    }
    expect(await admin('PUT', '/system/sms/config', { secret_key: '' })).toMatchObject({ data: { secret_key: '' } });
    expect(effective('sms.secret_key').value).toBe('');
  });

  test('of any length have the same mask, an unset one is empty', async () => {
    for (const secret of ['x', 'x'.repeat(200)]) {
      await admin('PUT', '/config/storage_cos', { secret_key: secret });
      expect((await valuesOf('storage_cos')).secret_key).toBe('***');
    }
    expect((await valuesOf('storage_qiniu')).secret_key).toBe('');
  });

  test('that cannot be decrypted are shown as set and survive a saved form', async () => {
    const { sql } = shop.database;
    const sealed = `sealed:1:00000000:${'A'.repeat(60)}`;
    await sql`insert into runtime.settings (key, value) values ('sms.secret_key', to_jsonb(${sealed}::text))`;
    await shop.server.runtime.settings.reload();
    const form = await valuesOf('sms');
    expect(form.secret_key).toBe('***');
    await admin('PUT', '/config/sms', { ...form, sign_name: 'New' });
    const [row] = await sql`select value from runtime.settings where key = 'sms.secret_key'`;
    expect(row!.value).toBe(sealed);
    await admin('PUT', '/config/sms', { secret_key: 'a-new-one' });
    expect(effective('sms.secret_key').value).toBe('a-new-one');
  });
});

test('a save stays within its statement budget', async () => {
  const route = shop.server.routes.find(({ method, path }) => method === 'PUT' && path.endsWith('/config/:plugin'))!;
  const log = logStatements(shop);
  for (const plugin of ['sms', 'logistics_router']) {
    const { texts } = await log.during(() => admin('PUT', `/config/${plugin}`, forms[plugin]));
    expect(texts.length, texts.join('\n')).toBeLessThanOrEqual(route.statements!);
  }
});

test('the author is in the change log, without secrets', async () => {
  await admin('PUT', '/config/sms', { secret_key: 'hunter2', sign_name: 'Mine' });
  const { rows } = await shop.server.runtime.settings.changes({ keys: settingsOf('sms'), limit: 2 });
  expect(rows.map(({ key, after, changed_by }) => [key, after, changed_by])).toEqual([
    ['sms.sign_name', 'Mine', 'admin:1'],
    ['sms.secret_key', '***', 'admin:1'],
  ]);
});

test('another process uses a change within seconds; keys of its configuration file are fixed there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-config-'));
  const file = join(folder, 'shop.json');
  const fixed = { 'delivery_local.default_rider_name': 'Fixed', 'sms.secret_key': 'fixed-secret' };
  await writeFile(file, JSON.stringify({ settings: fixed, modules: ['-external-wms', '-warehouse-simulator'] }));
  const { config } = loadConfig({
    env: {},
    file,
    flags: {
      ...{ databaseUrl: shop.database.url, data: folder, secretsKeyFile: testKeyFile },
      ...{ port: 0, seed: 'none', only: 'api', databasePool: 4 },
    },
  });
  const second = await startServer({ config, log: openLog({ level: 'silent' }) });
  try {
    const there = (method: string, path: string, body?: object) =>
      call(second.transport!.url, second.routes, method, `/admin/api${path}`, { token, body });
    await admin('PUT', '/config/storage_oss', { access_key_secret: 'hunter2', bucket: 'b' });
    await expect
      .poll(async () => (await there('GET', '/config/storage_oss')).data, { timeout: 5_000 })
      .toMatchObject({
        ...{ access_key_secret: '***', bucket: 'b' },
      });
    expect(second.runtime.settings.list().find((row) => row.key === 'storage_oss.access_key_secret')!.value).toBe(
      'hunter2',
    );

    const schemas = (await there('GET', '/config/schemas')).data as Plugin[];
    expect(schemas.map(({ plugin }) => plugin)).not.toContain('external_wms');
    expect(schemas.flatMap(({ fields }) => fields.filter((field) => field.fixed).map(({ key }) => key))).toEqual([
      'default_rider_name',
      'secret_key',
    ]);
    const form = (await there('GET', '/config/delivery_local')).data;
    expect(form.default_rider_name).toBe('Fixed');
    expect(await there('PUT', '/config/delivery_local', { ...form, default_rider_phone: '1' })).toMatchObject({
      code: 0,
    });
    for (const [path, change] of [
      ['/config/delivery_local', { default_rider_name: 'Other', default_rider_phone: '2' }],
      ['/config/sms', { secret_key: 'other', sign_name: 'Other' }],
      ['/system/sms/config', { secret_key: '', sign_name: 'Other' }],
    ] as const)
      expect(await there('PUT', path, change)).toMatchObject({
        code: 409,
        message: expect.stringContaining('configuration file'),
      });
    expect(await there('PUT', '/config/sms', { secret_key: '***', sign_name: 'Ok' })).toMatchObject({ code: 0 });
    expect((await there('GET', '/config/delivery_local')).data.default_rider_phone).toBe('1');
  } finally {
    await second.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
