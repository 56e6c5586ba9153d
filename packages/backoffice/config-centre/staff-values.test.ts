import { chinese } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

/** Staff with the permission for settings must not reach the disks and the private networks of the server. */
let shop: Shop;
let production: Shop;
beforeAll(async () => {
  [shop, production] = await Promise.all([
    openShop({ allowedPrivateNetworks: '10.9.0.0/16' }),
    openShop({ production: true }),
  ]);
});
afterAll(() => Promise.all([shop?.close(), production?.close()]));
afterEach(async () => {
  const keys = shop.server.runtime.settings.list().flatMap(({ key, source }) => (source === 'table' ? [key] : []));
  await shop.server.runtime.settings.setMany({}, { unset: keys.filter((key) => !key.startsWith('pay.')) });
});

async function put(plugin: string, form: object, { server, call } = shop, lang = 'en') {
  const token = await server.tokens.issue({ role: 'admin', id: 1, perms: ['system:config'] });
  return call('PUT', `/admin/api/config/${plugin}`, { token, body: form, lang });
}
const refused = (field: string) => ({ code: 400, message: expect.stringContaining(`${field}: `) });

test.each([
  '/',
  '/etc',
  '..',
  '../..',
  '.',
  'a/../..',
  'a/./b',
  'postgres/cluster/data',
  'Postgres',
  '.ssh',
  'C:\\x',
  'a//b',
])('the folder %s is refused', async (upload_dir) => {
  expect(await put('storage_local', { upload_dir })).toMatchObject(refused('upload_dir'));
  expect((await put('storage_local', { upload_dir }, shop, 'zh-CN')).message).toMatch(chinese);
});

test('a folder inside the data folder is accepted, and one of an operator stays when its form is saved', async () => {
  for (const upload_dir of ['pictures', 'uploads/2026', 'postgres-uploads'])
    expect(await put('storage_local', { upload_dir })).toMatchObject({ code: 0 });
  await shop.server.runtime.settings.set('storage_local.upload_dir', '/srv/uploads');
  const form = { upload_dir: '/srv/uploads', base_url: 'https://cdn.example' };
  expect(await put('storage_local', form)).toMatchObject({ code: 0 });
  expect(await put('storage_local', { upload_dir: '/srv/other' })).toMatchObject(refused('upload_dir'));
});

const services = [
  ['logistics_kuaidi100', 'api_url', '/poll'],
  ['logistics_kdniao', 'api_url', '/query'],
  ['external_wms', 'endpoint', '/wms'],
  ['storage_oss', 'endpoint', ''],
] as const;

test.each(services)(
  'an address of %s must not be private, unless the operator allows it',
  async (plugin, key, path) => {
    for (const host of ['10.0.0.1', '169.254.169.254', '192.168.1.1:8080', '[fd00::1]', '0.0.0.0', '2130706433.1'])
      expect([host, (await put(plugin, { [key]: `http://${host}${path}` })).code]).toEqual([host, 400]);
    expect(await put(plugin, { [key]: `http://10.0.0.1${path}` })).toMatchObject(refused(key));
    expect((await put(plugin, { [key]: `http://10.0.0.1${path}` }, shop, 'zh-CN')).message).toMatch(chinese);
    for (const host of ['8.8.8.8', '10.9.1.1', '127.0.0.1:9', 'localhost:9'])
      expect([host, (await put(plugin, { [key]: `http://${host}${path}` })).code]).toEqual([host, 0]);
    for (const host of ['127.0.0.1:9', 'localhost:9'])
      expect(await put(plugin, { [key]: `http://${host}${path}` }, production)).toMatchObject(refused(key));
  },
);

test('an endpoint without a scheme is checked too; one of the storage company beside the bucket is accepted', async () => {
  expect(await put('storage_oss', { endpoint: '10.0.0.1:9000' })).toMatchObject(refused('endpoint'));
  const inside = 'oss-cn-hangzhou-internal.aliyuncs.com';
  expect(await put('storage_oss', { endpoint: inside })).toMatchObject({ code: 0 });
});

test('every field that takes a private address is known: none of them is an address that the server asks', async () => {
  const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['system:config'] });
  const { data } = await shop.call('GET', '/admin/api/config/schemas', { token });
  const accepted: string[] = [];
  for (const { plugin, fields } of data)
    for (const { key, type } of fields)
      if (type === 'text' || type === 'textarea') {
        const { code } = await put(plugin, { [key]: 'http://10.0.0.1' });
        if (code === 0) accepted.push(`${plugin}.${key}`);
      }
  expect(accepted).toEqual([
    // An address for browsers, which the server never asks.
    'storage_local.base_url',
    // Parts of headers and of forms.
    ...['storage_oss.access_key_id', 'storage_cos.secret_id', 'storage_qiniu.access_key'],
    // For browsers as well.
    'storage_qiniu.domain',
    ...['logistics_kuaidi100.customer', 'logistics_kdniao.ebusiness_id'],
    ...['delivery_local.default_rider_name', 'delivery_local.default_rider_phone'],
    // Numbers of accounts, and addresses that the payment services send notices to.
    ...['wechat_pay.app_id', 'wechat_pay.mch_id', 'wechat_pay.notify_url', 'wechat_pay.public_key_id'],
    ...['alipay.app_id', 'alipay.notify_url'],
    ...['sms.access_key', 'sms.sign_name', 'wechat_auth.mini_app_id', 'wechat_auth.h5_app_id', 'external_wms.app_key'],
  ]);
});

test.each([
  ['storage_oss', 'bucket'],
  ['storage_cos', 'region'],
  ['storage_cos', 'bucket'],
  ['storage_qiniu', 'zone'],
  ['storage_qiniu', 'bucket'],
])('the %s %s, a part of a host name, cannot name another host', async (plugin, key) => {
  for (const value of ['127.0.0.1:9/', 'x@127.0.0.1', '10.0.0.1#', '10.0.0.1?', 'a\\b', 'a%2fb'])
    expect(await put(plugin, { [key]: value })).toMatchObject(refused(key));
});
