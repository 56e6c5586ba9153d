import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findingsOf } from '@tradepost/module';
import { s3Keys, startS3 } from '@tradepost/testing/s3/s3-server';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { uploadDoctorCheck } from '../../doctor-checks.ts';
import { filesIn, pngOf, uploadFile } from '../../testing/forms.ts';

import type { DriverRuntime } from '../driver.ts';
import { openDrivers } from '../open-drivers.ts';
import { ownDrivers } from '../own-drivers.ts';

let shop: Shop;
let token: string;
let s3: Awaited<ReturnType<typeof startS3>>;

beforeAll(async () => {
  s3 = await startS3(['photos', 'shop-1250000000', 'kodo']);
  shop = await openShop(
    {},
    {
      'storage_oss.endpoint': s3.url,
      'storage_oss.bucket': 'photos',
      'storage_oss.access_key_id': s3Keys.id,
      'storage_oss.access_key_secret': s3Keys.secret,
      'storage_cos.endpoint': s3.url,
      'storage_cos.region': 'ap-guangzhou',
      'storage_cos.bucket': 'shop-1250000000',
      'storage_cos.secret_id': s3Keys.id,
      'storage_cos.secret_key': s3Keys.secret,
      'storage_qiniu.endpoint': s3.url,
      'storage_qiniu.zone': 'z0',
      'storage_qiniu.bucket': 'kodo',
      'storage_qiniu.access_key': s3Keys.id,
      'storage_qiniu.secret_key': s3Keys.secret,
      'storage_qiniu.domain': `${s3.url}/kodo`,
    },
  );
});
beforeEach(async () => {
  token = (await shop.shopper()).token;
});
afterAll(async () => {
  await shop?.close();
  await s3?.close();
});

const rowOf = async (path: string) =>
  (await shop.database.sql`select driver, state, address, size from storage.files where path = ${path}`)[0];
const localFiles = () => filesIn(join(shop.server.runtime.config.data, 'uploads'));

describe.each([
  ['oss', ['oss', 'storage_oss', 'aliyun_oss'], 'photos'],
  ['cos', ['cos', 'storage_cos', 'qcloud_cos'], 'shop-1250000000'],
  ['qiniu', ['qiniu', 'storage_qiniu', 'qiniu_kodo'], 'kodo'],
])('%s', (name, aliases, bucket) => {
  test.each(aliases)('stores a file under the name %s, and its URL shows the file', async (driver) => {
    const content = pngOf(150_000);
    const { data } = await uploadFile(shop, token, { content, query: `?driver=${driver}` });
    expect(data).toMatchObject({ url: `${s3.url}/${bucket}/${data.path}`, size: 150_000, mime: 'image/png' });
    const object = await fetch(data.url);
    expect(object.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await object.arrayBuffer()).equals(content)).toBe(true);
    expect(await rowOf(data.path)).toEqual({ driver: name, state: 'stored', address: data.url, size: 150_000 });
    expect(await localFiles()).toEqual([]);
  });

  test('is chosen by the form, also behind the file', async () => {
    const { data } = await uploadFile(shop, token, { after: { driver: name } });
    expect(data.url).toContain(`/${bucket}/`);
    expect(await localFiles()).toEqual([]);
  });

  test('is the default when the router says so', async () => {
    await shop.server.runtime.settings.set('storage_router.default_driver', aliases[2]);
    const { data } = await uploadFile(shop, token);
    await shop.server.runtime.settings.unset('storage_router.default_driver');
    expect(data.url).toContain(`/${bucket}/`);
  });

  test('removes objects, and takes a missing one as removed', async () => {
    const { data } = await uploadFile(shop, token, { query: `?driver=${name}` });
    const driver = openDrivers(shop.server.runtime, ownDrivers).of(name)!;
    await driver.remove([data.path, data.path.replace('.png', '.gif')]);
    expect((await fetch(data.url)).status).toBe(404);
    await shop.database.sql`delete from storage.files where path = ${data.path}`;
  });
});

test('a file that is no image is stored as a download', async () => {
  await shop.server.runtime.settings.set('storage.extensions', ['pdf']);
  const content = Uint8Array.from(Buffer.from('%PDF-1.7 and more than sixteen bytes'));
  const { data } = await uploadFile(shop, token, { content, query: '?driver=oss' });
  await shop.server.runtime.settings.unset('storage.extensions');
  const { headers } = await fetch(data.url);
  expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual(['application/pdf', 'attachment']);
});

describe('a storage that does not take the file', () => {
  const refusedWith = async (settings: Record<string, unknown>) => {
    const before = await shop.database.sql`select count(*)::int as n from storage.files`;
    await shop.server.runtime.settings.setMany(settings);
    const answer = await uploadFile(shop, token, { query: '?driver=oss' });
    await shop.server.runtime.settings.setMany({
      'storage_oss.endpoint': s3.url,
      'storage_oss.bucket': 'photos',
      'storage_oss.access_key_secret': s3Keys.secret,
    });
    expect(answer).toMatchObject({
      code: 500,
      data: null,
      message: 'The storage oss did not accept the file, please try again',
    });
    expect(await localFiles()).toEqual([]);
    return before;
  };

  test('because of a wrong key is named, and nothing remains but a row that the clean-up ends', async () => {
    await refusedWith({ 'storage_oss.access_key_secret': 'wrong' });
  });

  test('because the bucket does not exist', () => refusedWith({ 'storage_oss.bucket': 'missing' }));

  test('because its server is away', () => refusedWith({ 'storage_oss.endpoint': 'http://127.0.0.1:9' }), 30_000);

  test.each<[string, (response: ServerResponse, url: string) => void]>([
    // fetch would follow it with a GET, and the success of that is no stored file.
    ['a redirect to a page', (response, url) => response.writeHead(303, { location: `${url}/page` }).end()],
    ['the page of a proxy', (response) => response.end('<html>Please log in</html>')],
    ['an error without an end', (response) => response.writeHead(403).write('x'.repeat(100_000))],
    ['something that is not HTTP', (response) => response.socket!.end('OK\r\n\r\n')],
  ])('because it answers with %s', async (_, answer) => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url!.split('/')[1]}`);
      request.resume().once('end', () => {
        if (request.method === 'PUT') answer(response, url);
        else response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await refusedWith({ 'storage_oss.endpoint': url });
    server.close();
    server.closeAllConnections();
    expect(seen).toEqual(['PUT photos', 'DELETE photos']);
  });

  test('leaves rows that the next clean-up removes', async () => {
    await shop.database.sql`update storage.files set changed_at = now() - interval '1 day' where state <> 'stored'`;
    const { cleanUp } = await import('../../uploads/clean-up.ts');
    await cleanUp({ runtime: shop.server.runtime, drivers: openDrivers(shop.server.runtime, ownDrivers) });
    expect(await shop.database.sql`select path from storage.files where state <> 'stored'`).toEqual([]);
  });
});

test.each<[string, Record<string, string>, string]>([
  ['oss', { 'storage_oss.endpoint': 'oss-cn-hangzhou.aliyuncs.com' }, 'https://photos.oss-cn-hangzhou.aliyuncs.com/'],
  [
    'oss',
    { 'storage_oss.endpoint': 'https://oss-cn-hangzhou-internal.aliyuncs.com' },
    'https://photos.oss-cn-hangzhou.aliyuncs.com/',
  ],
  // A server of another company keeps its name.
  ['oss', { 'storage_oss.endpoint': 'oss-data.example.com' }, 'https://oss-data.example.com/photos/'],
  ['oss', { 'storage_oss.domain': 'img.shop.example' }, 'https://img.shop.example/'],
  ['oss', { 'storage_oss.endpoint': 'minio.example:9000' }, 'https://minio.example:9000/photos/'],
  ['cos', {}, 'https://shop-1250000000.cos.ap-guangzhou.myqcloud.com/'],
  ['qiniu', { 'storage_qiniu.domain': 'http://cdn.example/' }, 'http://cdn.example/'],
])('%s with %j has the public address %s', (name, given, address) => {
  const values: Record<string, string> = {
    'storage_oss.endpoint': 'oss-cn-hangzhou.aliyuncs.com',
    'storage_oss.bucket': 'photos',
    'storage_cos.region': 'ap-guangzhou',
    'storage_cos.bucket': 'shop-1250000000',
    'storage_qiniu.zone': 'z0',
    'storage_qiniu.bucket': 'kodo',
    ...given,
  };
  const secret = /key|secret/;
  const settings = {
    get: ({ key, fallback }: { key: string; fallback: unknown }) => values[key] ?? (secret.test(key) ? 'k' : fallback),
  } as DriverRuntime['settings'];
  const driver = openDrivers({ config: { data: '/nowhere' }, settings }, ownDrivers).of(name)!;
  expect(driver.addressOf('2026/11/x.png')).toBe(`${address}2026/11/x.png`);
});

test('the doctor says why a bucket does not answer', async () => {
  const values: Record<string, unknown> = {
    'storage_router.default_driver': 'oss',
    'storage_oss.endpoint': 'http://127.0.0.1:9',
    'storage_oss.bucket': 'photos',
    'storage_oss.access_key_id': 'id',
    'storage_oss.access_key_secret': 'key',
  };
  const settings = { get: (of: { key: string; fallback: unknown }) => values[of.key] ?? of.fallback };
  const found = findingsOf('uploads');
  await uploadDoctorCheck(ownDrivers).check(
    { config: { data: '/nowhere', maxUploadBytes: 2 ** 30 }, settings } as never,
    found,
  );
  expect(found.findings.map(({ what }) => what)).toEqual([
    expect.stringMatching(/^the storage oss .* fetch failed: ./),
  ]);
});
