import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { examplePng } from '@tradepost/testing/routes/multipart';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { flushFolder } from '../drivers/local/local-driver.ts';
import { filesIn, pngOf, uploadFile } from '../testing/forms.ts';

let shop: Shop;
let token: string;
let staff: string;
let folder: string;
const pathPattern = /^\d{4}\/\d{2}\/\d{19}_[0-9a-f]{12}\.png$/;

beforeAll(async () => {
  shop = await openShop();
  token = (await shop.shopper()).token;
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: [] });
  folder = join(shop.server.runtime.config.data, 'uploads');
});
afterAll(() => shop?.close());

/** The files that this process has open, on Linux. */
function openFiles(): string[] {
  const folder = '/proc/self/fd';
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      return [];
    }
  });
}

const rows = () => shop.database.sql<{ path: string; state: string; driver: string; owner_role: string }[]>`
  select path, state, driver, owner_role from storage.files order by path`;

/** Every file has a stored row and every row has a file. */
afterEach(async () => {
  await vi.waitFor(async () => {
    const stored = await rows();
    expect(await filesIn(folder)).toEqual(stored.map(({ path }) => path));
    expect(stored.filter(({ state }) => state !== 'stored')).toEqual([]);
  });
});

describe('an upload', () => {
  test('is answered with a URL that shows the same bytes to every page, and runs no script', async () => {
    const content = pngOf(300_000);
    const { data, code } = await uploadFile(shop, token, { content, name: '../../../etc/x.html' });
    expect(code).toBe(0);
    expect(data).toEqual({
      path: expect.stringMatching(pathPattern),
      url: `${shop.url}/uploads/${data.path}`,
      size: 300_000,
      mime: 'image/png',
    });
    for (const url of [data.url, `${shop.url}/api/v1/uploads/${data.path}`]) {
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
      const headers = Object.fromEntries(response.headers);
      expect(headers).toMatchObject({
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=31536000',
      });
      expect(headers['content-security-policy']).toContain('sandbox');
      const again = await fetch(url, { headers: { 'if-none-match': headers.etag! } });
      expect(again.status).toBe(304);
    }
  });

  test.each(['uws', 'node'])('of 9 MB is served whole on the transport %s', async (transport) => {
    const other = await openShop({ transport });
    try {
      const content = pngOf(9_000_000).fill(7, 100);
      const { data } = await uploadFile(other, (await other.shopper()).token, { content });
      expect(Buffer.from(await (await fetch(data.url)).arrayBuffer()).equals(content)).toBe(true);
      for (let n = 0; n < 3; n += 1) expect((await fetch(data.url, { method: 'HEAD' })).status).toBe(200);
      await vi.waitFor(() => expect(openFiles().filter((file) => file.endsWith(data.path))).toEqual([]));
    } finally {
      await other.close();
    }
  });

  test('of an administrator needs no permission, and a shopper cannot use its path', async () => {
    expect((await uploadFile(shop, staff, { path: '/admin/api/upload' })).code).toBe(0);
    expect((await uploadFile(shop, token, { path: '/admin/api/upload' })).code).toBe(403);
    expect((await rows()).map(({ owner_role }) => owner_role)).toContain('admin');
  });

  test('gets its type and extension from its content, whatever the client says', async () => {
    const gif = Uint8Array.from(Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'));
    const { data } = await uploadFile(shop, token, { content: gif, name: 'photo.png' });
    expect(data).toMatchObject({ mime: 'image/gif', path: expect.stringMatching(/\.gif$/) });
  });

  test.each(['local', 'storage_local'])('takes the driver %s from the query or the form', async (driver) => {
    expect((await uploadFile(shop, token, { query: `?driver=${driver}` })).code).toBe(0);
    expect((await uploadFile(shop, token, { before: { driver } })).code).toBe(0);
    expect((await uploadFile(shop, token, { after: { driver } })).code).toBe(0);
    expect((await uploadFile(shop, token, { query: '?driver=local', after: { driver: 'nowhere' } })).code).toBe(0);
  });

  test('is repeated without a second file under one Idempotency-Key', async () => {
    const before = (await rows()).length;
    const key = randomUUID();
    const send = async () => {
      const form = new FormData();
      form.append('file', new File([examplePng], 'a.png'));
      return shop.call('POST', '/api/v1/upload', { token, body: form, headers: { 'idempotency-key': key } });
    };
    const first = await send();
    expect((await send()).body).toEqual(first.body);
    // The process died after its commit and before it stored the answer.
    await shop.database.sql`
      update runtime.idempotency_keys set answer = null, status = null, code = null, instance = 'gone' where key = ${key}`;
    expect((await send()).body).toEqual(first.body);
    expect(await rows()).toHaveLength(before + 1);
  });

  test('is one of 64 parallel ones, and all are stored', async () => {
    const before = (await rows()).length;
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => uploadFile(shop, token, { content: pngOf(200_000) })),
    );
    expect(answers.filter(({ code }) => code !== 0)).toEqual([]);
    expect(new Set(answers.map(({ data }) => data.path)).size).toBe(64);
    expect(await rows()).toHaveLength(before + 64);
  });
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

describe('a refused upload leaves nothing', () => {
  test.each([
    ['no bytes', { content: new Uint8Array(0) }, 400, 'file: the file is empty', 'file：文件为空'],
    [
      'a zip that is named .png',
      { content: bytes('PK\x03\x04 a very small bomb') },
      400,
      /^file: its content has no allowed type \(jpg, /,
      /^file：文件内容不属于/,
    ],
    ['SVG with a script', { content: bytes(svg), name: 'a.svg' }, 400, /no allowed type/, /不属于/],
    ['a page that is named .png', { content: bytes('<!doctype html><script>') }, 400, /no allowed type/, /不属于/],
    ['a cut PNG', { content: examplePng.slice(0, 9) }, 400, /no allowed type/, /不属于/],
    ['a file in another field', { field: 'image' }, 400, 'Please select a file', '请选择文件'],
    [
      'more than the limit',
      { content: pngOf(10 * 1024 * 1024 + 1) },
      400,
      /at most 10485760 bytes/,
      /最多 10485760 字节/,
    ],
    [
      'an unknown driver in the query',
      { query: '?driver=ftp' },
      500,
      'Unknown storage driver: ftp',
      '未知的存储驱动：ftp',
    ],
    [
      'an unknown driver in the form',
      { after: { driver: 'ftp' } },
      500,
      'Unknown storage driver: ftp',
      '未知的存储驱动：ftp',
    ],
    [
      'a driver without settings',
      { query: '?driver=aliyun_oss' },
      500,
      /oss is not set up: storage_oss\.endpoint is empty/,
      /oss 未配置/,
    ],
  ] as const)('%s', async (_, options, code, en, zh) => {
    const before = await rows();
    const english = await uploadFile(shop, token, options);
    expect(english).toMatchObject({ status: 200, code, data: null, message: expect.stringMatching(en) });
    const chinese = await uploadFile(shop, token, { ...options, lang: 'zh-CN' });
    expect(chinese).toMatchObject({ code, message: expect.stringMatching(zh) });
    expect(await rows()).toEqual(before);
  });

  test('two files', async () => {
    const form = new FormData();
    for (const name of ['a.png', 'b.png']) form.append('file', new File([pngOf(100_000)], name));
    const answer = await shop.call('POST', '/api/v1/upload', { token, body: form });
    expect(answer).toMatchObject({ code: 400, message: 'file: send one file per request' });
  });

  test('a driver that is switched off', async () => {
    const { settings } = shop.server.runtime;
    await settings.setMany({ 'storage_router.enabled_drivers': ['oss'] });
    expect(await uploadFile(shop, token)).toMatchObject({
      code: 500,
      message: 'The storage driver local is switched off',
    });
    await settings.unset('storage_router.enabled_drivers');
  });

  const raw = (body: string, type: string) =>
    shop.call('POST', '/api/v1/upload', { token, rawBody: bytes(body), headers: { 'content-type': type } });
  const part = (boundary: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n${Buffer.from(examplePng).toString('latin1')}\r\n`;

  test.each([
    ['another boundary', `${part('b')}--b--\r\n`, 'multipart/form-data; boundary=a', /malformed/],
    ['no end', part('a'), 'multipart/form-data; boundary=a', /malformed/],
    ['no boundary', part('a'), 'multipart/form-data', /with a boundary/],
    ['JSON', '{}', 'application/json', /multipart\/form-data/],
    [
      'too many parts',
      `${part('a').replace('"file"', '"other"').repeat(30)}--a--\r\n`,
      'multipart/form-data; boundary=a',
      /malformed/,
    ],
    ['an empty form', '--a--\r\n', 'multipart/form-data; boundary=a', /Please select a file/],
    ['nothing', '', 'multipart/form-data; boundary=a', /./],
  ])('a form with %s', async (_, body, type, message) => {
    expect(await raw(body, type)).toMatchObject({ code: 400, data: null, message: expect.stringMatching(message) });
  });

  test('more than MAX_UPLOAD_BYTES is announced', async () => {
    const socket = connect(Number(new URL(shop.url).port), '127.0.0.1');
    socket.write(
      `POST /api/v1/upload HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
        'Content-Type: multipart/form-data; boundary=a\r\nContent-Length: 5368709120\r\n\r\n--a\r\n',
    );
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    expect(answer).toContain('413');
    socket.destroy();
  });

  test('a client that goes away in the middle', async () => {
    const before = await rows();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect(Number(new URL(shop.url).port), '127.0.0.1');
        socket.on('error', () => {});
        socket.write(
          `POST /api/v1/upload HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
            'Content-Type: multipart/form-data; boundary=a\r\nContent-Length: 900000\r\n\r\n' +
            '--a\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n',
        );
        socket.write(pngOf(400_000));
        await vi.waitFor(async () => expect((await filesIn(join(folder, '.incoming'))).length).toBeGreaterThan(0));
        socket.destroy();
      }),
    );
    await vi.waitFor(async () => expect(await rows()).toEqual(before));
  });

  test('a folder that can not be written, and afterwards uploads are stored again', async () => {
    const { settings } = shop.server.runtime;
    const before = await rows();
    // The file system refuses these also for root. In /proc it reports that the folder above is missing, although it is there.
    const dirs = ['/dev/null', `x/${'a'.repeat(300)}`, ...(existsSync('/proc') ? ['/proc', '/proc/self'] : [])];
    for (const dir of dirs) {
      await settings.set('storage_local.upload_dir', dir);
      const answer = await uploadFile(shop, token);
      expect(answer).toMatchObject({ status: 200, code: 500, message: expect.stringMatching(/^Files can not/) });
      expect(await rows()).toEqual(before);
    }
    await settings.unset('storage_local.upload_dir');
    expect((await uploadFile(shop, token)).code).toBe(0);
    // The alert of docs/OPERATIONS.md reads this.
    const metrics = await (await fetch(`${shop.url}/metrics`)).text();
    expect(metrics).toContain(`storage_uploads_total{driver="",result="failed"} ${dirs.length}`);
  });

  test('an account over its limit, also when its uploads are parallel', async () => {
    const shopper = await shop.shopper();
    await shop.server.runtime.settings.set('storage.uploads_per_hour', 5);
    const answers = await Promise.all(Array.from({ length: 20 }, () => uploadFile(shop, shopper.token)));
    await shop.server.runtime.settings.unset('storage.uploads_per_hour');
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(5);
    expect(answers.find(({ code }) => code !== 0)).toMatchObject({
      code: 429,
      message: 'At most 5 uploads in an hour, please try again later',
    });
  });
});

test('a shared folder whose file system can not flush folders takes files', async () => {
  // On Linux the flush of this folder is refused, as on some network shares.
  if (existsSync('/proc')) await flushFolder('/proc');
  await expect(flushFolder('/nowhere')).rejects.toThrow('ENOENT');
});

test('nothing but stored files is served', async () => {
  const { data } = await uploadFile(shop, token);
  for (const path of [
    '../config.json',
    '..%2fconfig.json',
    '%2e%2e/%2e%2e/etc/passwd',
    '.incoming/x',
    `./${data.path}%00.html`,
    data.path.replace('/', '//'),
    '2026',
    '',
  ])
    expect((await fetch(`${shop.url}/uploads/${path}`)).status, path).toBe(404);
});
