import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { modules } from '@tradepost/app';
import type { Module } from '@tradepost/module';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../openapi/openapi.ts';
import { binary } from '../validation/fields.ts';
import { openBodyLimits, openStreamLimits } from './body-limits.ts';
import { defineRoute, type Route } from './route.ts';

const limit = 200_000;
let runs = 0;
let endings: string[] = [];
const measure = (path: string, more: Pick<Route, 'auth' | 'permission'>): Route =>
  defineRoute({
    ...{ method: 'POST', path, tag: 'Test', summary: 'Measure a file', bodyStream: true, bodyLimit: limit },
    ...(more as { auth: 'staff' }),
    query: z.object({ factor: z.int().min(1).optional() }),
    body: z.object({ file: binary(limit) }),
    response: z.object({ size: z.int(), type: z.string(), runs: z.int() }),
    async handle({ bodyStream, query }) {
      runs += 1;
      let size = 0;
      try {
        for await (const part of bodyStream) size += part.byteLength;
      } catch (error) {
        endings.push(String((error as Error).message));
        // A library that reads the body may hide the reason.
        throw new Error('unexpected end of form');
      }
      return { size: size * (query.factor ?? 1), type: bodyStream.type, runs };
    },
  });
const plain = defineRoute({
  ...{ method: 'POST', path: '/api/v1/plain', auth: 'public', tag: 'Test', summary: 'A route without a stream' },
  body: z.object({ a: z.int() }),
  response: z.object({ a: z.int(), streamed: z.int() }),
  async handle({ body, bodyStream }) {
    let streamed = 0;
    for await (const part of bodyStream) streamed += part.byteLength;
    return { a: body.a, streamed };
  },
});
const routes = [
  measure('/api/v1/measure', { auth: 'shopper' }),
  measure('/admin/api/measure', { auth: 'staff', permission: 'measure:edit' }),
  plain,
];
const uploads: Module = { name: 'uploads', needs: ['identity'], open: () => ({ routes: () => routes }) };

let database: TestDatabase;
let shop: ModuleShop;
let token: string;
beforeAll(async () => {
  database = await cloneDatabase();
  shop = await openModuleShop(database, [...modules, uploads]);
  token = (await shop.shopper()).token;
});
afterAll(async () => {
  await shop?.close();
  await database?.drop();
});
beforeEach(() => {
  runs = 0;
  endings = [];
});

const upload = (bytes: number, headers: Record<string, string> = {}, path = '/api/v1/measure') =>
  shop.call('POST', path, {
    ...{ token, rawBody: new Uint8Array(bytes) },
    headers: { 'content-type': 'image/png', ...headers },
  });

/** Sends a head that announces more bytes than follow. Returns what arrived until `enough`. */
async function begin(
  headers: string,
  path = '/api/v1/measure',
  enough = '}',
): Promise<{ text: string; leave: () => void }> {
  const socket = connect(Number(new URL(shop.url).port), '127.0.0.1');
  let text = '';
  socket
    .on('error', () => {})
    .on('data', (data) => {
      text += data.toString();
    });
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: shop\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n${headers}\r\nx`,
  );
  for (let waited = 0; waited < 2_000 && !text.includes(enough); waited += 20) await sleep(20);
  return { text, leave: () => socket.destroy() };
}

test('the handler gets the bytes, and other routes get an empty stream', async () => {
  expect((await upload(150_000)).data).toEqual({ size: 150_000, type: 'image/png', runs: 1 });
  expect((await upload(0)).data).toEqual({ size: 0, type: 'image/png', runs: 2 });
  expect((await shop.call('POST', '/api/v1/plain', { body: { a: 7 } })).data).toEqual({ a: 7, streamed: 0 });
});

test('a request that a check refuses is answered before its body, and the handler does not run', async () => {
  const cases: [string, string, string][] = [
    ['', '/api/v1/measure', '"code":401'],
    ['Authorization: Bearer wrong\r\n', '/api/v1/measure', '"code":401'],
    [`Authorization: Bearer ${token}\r\n`, '/admin/api/measure', '"code":403'],
    [`Authorization: Bearer ${token}\r\n`, '/api/v1/measure?factor=0', 'factor'],
    [`Authorization: Bearer ${token}\r\nIdempotency-Key: a b\r\n`, '/api/v1/measure', 'Idempotency-Key'],
  ];
  for (const [headers, path, expected] of cases) {
    const { text, leave } = await begin(headers, path);
    leave();
    expect(text, path).toContain(expected);
  }
  expect(runs).toBe(0);
});

test('a body above the limit of the route is refused with the limit, declared or chunked', async () => {
  const declared = await upload(limit + 1);
  expect([declared.status, declared.message]).toEqual([413, `The body is too large: at most ${limit} bytes`]);
  expect(runs).toBe(0);
  const chunked = await fetch(`${shop.url}/api/v1/measure`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'accept-language': 'en' },
    body: new Blob([new Uint8Array(limit + 1)]).stream(),
    duplex: 'half',
  } as RequestInit);
  const answer = (await chunked.json()) as { message: string };
  expect([chunked.status, answer.message]).toEqual([413, `The body is too large: at most ${limit} bytes`]);
  // The handler threw another error, and the answer still names the reason.
  expect(endings).toEqual(['The body of the request ended early: too_large']);
});

test('the same upload with an Idempotency-Key runs once; another length or type is another request', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const form = (boundary: string) => ({ ...key, 'content-type': `multipart/form-data; boundary=${boundary}` });
  const first = await upload(1_000, form('one'));
  expect(first.data).toMatchObject({ size: 1_000, runs: 1 });
  // Clients make a new boundary for each request.
  const again = await upload(1_000, form('two'));
  expect([again.data, again.headers.get('idempotency-replayed')]).toEqual([first.data, 'true']);
  expect((await upload(1_001, form('one'))).status).toBe(422);
  expect((await upload(1_000, key)).status).toBe(422);
  expect((await upload(1_000, form('one'), '/api/v1/measure?factor=2')).status).toBe(422);
  expect(runs).toBe(1);
});

test('after an upload that broke off, the same key runs again', async () => {
  const key = randomUUID();
  const headers = `Authorization: Bearer ${token}\r\nIdempotency-Key: ${key}\r\n`;
  const { leave } = await begin(headers, '/api/v1/measure', '');
  for (let waited = 0; waited < 2_000 && runs === 0; waited += 10) await sleep(10);
  leave();
  for (let waited = 0; waited < 2_000 && endings.length === 0; waited += 10) await sleep(10);
  expect(endings).toEqual(['The body of the request ended early: aborted']);
  // The key is free when its row is gone.
  for (let rows = 1, waited = 0; rows > 0 && waited < 3_000; waited += 20) {
    await sleep(20);
    rows = (await database.sql`select key from runtime.idempotency_keys where key = ${key}`).length;
  }
  const again = await upload(100_000, { 'idempotency-key': key });
  expect([again.data?.size, again.headers.get('idempotency-replayed')]).toEqual([100_000, null]);
});

test('the document shows the multipart form and its limit', () => {
  const { paths } = openApiDocument(routes, [], 'test') as { paths: Record<string, Record<string, object>> };
  expect(paths['/api/v1/measure']?.post).toMatchObject({
    'x-body-limit': limit,
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } },
        },
      },
    },
  });
});

test('only the exact path of a streamed route streams; another spelling has a small collected body', () => {
  expect(openStreamLimits([plain])).toBeUndefined();
  const streamLimitOf = openStreamLimits(routes)!;
  expect(streamLimitOf('POST', '/api/v1/measure')).toBe(limit);
  for (const [method, path] of [
    ['PUT', '/api/v1/measure'],
    ['POST', '/api/v1/plain'],
    ['POST', '/api/v1/measure/'],
    ['POST', '/api/v1/me%61sure'],
  ] as const)
    expect(streamLimitOf(method, path)).toBe(0);
  expect(openBodyLimits(routes)('POST', '/api/v1/me%61sure')).toBe(16_384);
});

test('a streamed route is a write without path parameters', () => {
  const definition = { auth: 'staff', tag: 'Test', summary: 's', response: z.null(), bodyStream: true } as const;
  const handle = () => null;
  expect(() => defineRoute({ ...definition, method: 'GET', path: '/files', handle })).toThrow('GET /files');
  expect(() => defineRoute({ ...definition, method: 'POST', path: '/files/:id', handle })).toThrow('POST /files/:id');
});
