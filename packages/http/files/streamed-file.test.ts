import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog, openMetrics, type Runtime } from '@tradepost/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../routing/app.ts';
import { defineRoute, type Route } from '../routing/route.ts';
import { serveNode } from '../transports/node/node-transport.ts';
import type { Transport } from '../transports/transport.ts';
import { serveUws } from '../transports/uws/uws-transport.ts';
import { maxFiles, maxFilesPerAccount } from './file-slots.ts';
import { beginFile, StreamedFile } from './streamed-file.ts';

const until = async (check: () => boolean): Promise<void> => {
  for (const end = performance.now() + 8_000; !check(); await sleep(10))
    if (performance.now() > end) throw new Error(`too late: ${check}`);
};

const logged: { msg: string }[] = [];
const log = openLog({ level: 'warn', stream: { write: (line: string) => logged.push(JSON.parse(line)) } });
const openSockets: Socket[] = [];
const servers: Transport[] = [];
afterEach(async () => {
  for (const socket of openSockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close(500)));
  logged.length = 0;
});

const piece = `${'x'.repeat(65_535)}\n`;
/** What the source of the route did in this test. */
let seen = { made: 0, ended: 0 };
async function* pieces(count: number, failAt: number): AsyncGenerator<string> {
  const own = seen;
  try {
    for (let index = 0; index < count; index += 1) {
      if (index === failAt) throw new Error('the query failed');
      await sleep(0);
      own.made += 1;
      yield piece;
    }
  } finally {
    own.ended += 1;
  }
}
const base = { auth: 'staff', tag: 'Test', summary: 'A file', response: z.string() } as const;
const file = { type: 'text/csv; charset=utf-8', name: 'rows.csv' };
const route = defineRoute({
  ...{ ...base, method: 'GET', path: '/admin/api/rows', permission: 'rows:read', file },
  query: z.object({ count: z.int(), fail: z.int().optional() }),
  handle: ({ query }) => new StreamedFile(pieces(query.count, query.fail ?? -1)),
});

describe.each([
  { name: 'uws', serveApp: serveUws },
  { name: 'node', serveApp: serveNode },
])('files on $name', ({ serveApp }) => {
  async function open() {
    seen = { made: 0, ended: 0 };
    const runtime = {
      ...{ log, metrics: openMetrics(), isDatabaseAway: () => false },
      settings: { get: () => 'en' },
      config: { trustedProxies: [], logRequests: 'none' },
    } as unknown as Runtime;
    // The token is the id of the administrator; `0` has no permission.
    const authenticate = (token: string) => ({
      ...({ role: 'admin', id: Number(token), jti: token, expiresAt: 0 } as const),
      perms: token === '0' ? [] : ['rows:read'],
    });
    const app = createApp({ routes: [route], resources: [], authenticate, runtime });
    const server = await serveApp({ fetch: app.fetch });
    servers.push(server);
    const get = (query: string, token = '1', method = 'GET') =>
      fetch(`${server.url}/admin/api/rows?${query}`, { method, headers: { authorization: `Bearer ${token}` } });
    /** A client that reads nothing before `resume`. */
    const dial = (query: string, token = '1') => {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {});
      openSockets.push(socket);
      socket.pause();
      socket.write(
        `GET /admin/api/rows?${query} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
      );
      return socket;
    };
    const metric = async (outcome: string, count = 1) =>
      (await runtime.metrics.registry.metrics()).includes(`http_files_total{outcome="${outcome}"} ${count}\n`);
    return { get, dial, metric };
  }

  test('a file arrives whole, with its type and name and without the envelope', async () => {
    const { get, metric } = await open();
    const answer = await get('count=40');
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="rows.csv"' },
      ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': expect.any(String) },
    });
    expect((await answer.text()) === piece.repeat(40)).toBe(true);
    expect(await (await get('count=0')).text()).toBe('');
    await until(() => seen.ended === 2);
    expect(await metric('complete', 2)).toBe(true);
  });

  test('refusals, and an error before the first piece, have the envelope', async () => {
    const { get } = await open();
    expect(await (await get('count=1', '0')).json()).toMatchObject({ code: 403, data: null });
    expect(await (await get('count=many')).json()).toMatchObject({
      code: 400,
      message: expect.stringContaining('count'),
    });
    expect(seen).toEqual({ made: 0, ended: 0 });
    const failed = await get('count=1&fail=0');
    expect(failed.status).toBe(500);
    expect(await failed.json()).toMatchObject({ code: 500, data: null });
  });

  test('HEAD makes nothing', async () => {
    const { get } = await open();
    const answer = await get('count=3', '1', 'HEAD');
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(await answer.text()).toBe('');
    expect(seen).toEqual({ made: 0, ended: 0 });
  });

  test('an error midway cuts the connection: the body has no end', async () => {
    const { get, metric } = await open();
    await expect(get('count=9&fail=3').then((answer) => answer.text())).rejects.toThrow();
    expect(logged.map(({ msg }) => msg)).toEqual(['a file was cut']);
    expect(await metric('cut')).toBe(true);
    // Its slot is free again.
    for (let n = 0; n < maxFilesPerAccount; n += 1) expect((await get('count=1')).status).toBe(200);
  });

  test('a client that does not read stops the source, and its leaving ends it', async () => {
    const { dial, metric } = await open();
    const socket = dial('count=1000000');
    await until(() => seen.made > 0);
    let last = -1;
    for (; last !== seen.made; await sleep(150)) last = seen.made;
    // 64 MB would be 1,000 pieces; the buffers of the kernel take some MB.
    expect(seen.made).toBeLessThan(400);
    socket.destroy();
    await until(() => seen.ended === 1);
    expect(seen.made).toBeLessThan(400);
    expect(await metric('left')).toBe(true);
  });

  test('files at once are limited for each account and for the process', async () => {
    const { get, dial } = await open();
    const slow: Socket[] = [];
    const accounts = maxFiles / maxFilesPerAccount;
    for (let id = 1; id <= accounts; id += 1)
      for (let n = 0; n < maxFilesPerAccount; n += 1) {
        const before = seen.made;
        slow.push(dial('count=1000000', String(id)));
        await until(() => seen.made > before);
      }
    expect((await get('count=1', '1')).status).toBe(429);
    const full = await get('count=1', String(accounts + 1));
    expect(full.status).toBe(503);
    expect(full.headers.get('retry-after')).toBe('1');
    slow[0]!.destroy();
    await until(() => seen.ended === 1);
    await sleep(0);
    expect((await get('count=1', String(accounts + 1))).status).toBe(200);
  });
});

test('a file that is not taken in time is cut, and frees its slot', async () => {
  let released = 0;
  const release = () => {
    released += 1;
  };
  const sending = { log, trace: 't', where: 'GET /x', limitMs: 30, release };
  const files = { labels: () => ({ inc() {} }) } as never;
  const { body } = await beginFile(new StreamedFile(pieces(9, -1)), { ...sending, metrics: { files } });
  const reader = body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await until(() => released === 1);
  await expect(reader.read()).rejects.toThrow('not taken within 30 ms');
  expect(released).toBe(1);
});

test('a file needs GET, a token and a plain name', () => {
  const handle = () => new StreamedFile(pieces(1, -1));
  const define = (more: object): Route => defineRoute({ ...base, method: 'GET', path: '/x', file, handle, ...more });
  expect(define({}).file).toEqual(file);
  for (const wrong of [{ method: 'POST' }, { auth: 'public' }, { etag: true }, { file: { ...file, name: 'a"b' } }])
    expect(() => define(wrong)).toThrow('/x: ');
});
