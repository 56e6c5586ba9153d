import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { H3 } from 'h3';
import { FastResponse } from 'srvx';
import { afterEach, describe, expect, test } from 'vitest';
import { serveNode } from './node/node-transport.ts';
import type { FetchHandler, Transport, TransportOptions } from './transport.ts';
import { serveUws } from './uws/uws-transport.ts';

const servers: Transport[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close(200)));
});

/** A raw connection. It stores the bytes that arrived, and waits for more. */
const dial = async (server: { port: number }, paused = false) => {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  let closed = false;
  let received = '';
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  if (!paused) {
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
  }
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    socket,
    send: (text: string | Uint8Array) => socket.write(text),
    received: () => received,
    closed: () => closed,
    until: (check: (text: string) => boolean) => until(() => check(received)),
    untilClosed: () => until(() => closed),
  };
};

const until = async (check: () => boolean, limitMs = 30_000): Promise<void> => {
  const end = performance.now() + limitMs;
  while (!check()) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${check}`);
    await sleep(5);
  }
};

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: shop.test\r\n${headers}\r\n`;
const post = (path: string, headers: string, body = '') =>
  `POST ${path} HTTP/1.1\r\nHost: shop.test\r\n${headers}\r\n${body}`;
const count = (text: string, part: string) => text.split(part).length - 1;
const path = (request: Request) => new URL(request.url).pathname;
const silent = { config: { silent: true } };

describe.each([
  { name: 'uws' as const, serve: serveUws },
  { name: 'node' as const, serve: serveNode },
])('transport on $name', ({ name, serve }) => {
  const start = async (fetch: FetchHandler, options: Partial<TransportOptions> = {}) => {
    const server = await serve({ fetch, ...options });
    servers.push(server);
    return server;
  };

  test('plain GET', async () => {
    const server = await start(() => new FastResponse('hello', { headers: { 'content-type': 'text/plain' } }));
    expect(server.name).toBe(name);
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    const client = await dial(server);
    client.send(get('/'));
    await client.until((text) => text.endsWith('hello'));
    const head = client.received().toLowerCase();
    expect(head).toMatch(/^http\/1\.1 200 ok\r\n/);
    expect(head).toContain('content-type: text/plain\r\n');
    expect(count(head, 'content-length: 5\r\n')).toBe(1);
    expect(count(head, '\r\ndate:')).toBe(1);
    expect(head).not.toContain('transfer-encoding');
    expect(server.activeRequests()).toBe(0);
  });

  test('framing headers of the application are not sent twice', async () => {
    const date = new Date(0).toUTCString();
    const headers = { 'Content-Length': '4', Date: date, 'X-Kept': '1' };
    const server = await start((request) =>
      path(request) === '/fast' ? new FastResponse('body', { headers }) : new Response('body', { headers }),
    );
    for (const target of ['/fast', '/standard']) {
      const client = await dial(server);
      client.send(get(target));
      await client.until((text) => text.endsWith('body'));
      const head = client.received().toLowerCase();
      expect(count(head, 'content-length: 4')).toBe(1);
      expect(count(head, '\r\ndate:')).toBe(1);
      expect(head).not.toContain('transfer-encoding');
      expect(head).toContain('x-kept: 1');
    }
  });

  test('query and percent-encoding are unchanged', async () => {
    const server = await start((request) => new FastResponse(request.url));
    for (const target of ['/a%20b/%C3%A9%2F?q=a+b%26c&x=%25&empty=', '/', '/x?a=1?b=2', '/a//b/;c=1,2']) {
      expect(await (await fetch(server.url + target)).text()).toBe(server.url + target);
    }
  });

  test('the URL has the host of the Host header; an invalid Host header is not used', async () => {
    const server = await start((request) => new FastResponse(`<${request.url}>`));
    const client = await dial(server);
    client.send(get('/a'));
    await client.until((text) => text.includes('<http://shop.test/a>'));
    client.send('GET /b HTTP/1.1\r\nHost: evil/path?x\r\n\r\n');
    await client.until((text) => text.endsWith('/b>'));
    expect(client.received()).not.toContain('evil');
  });

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('method %s', async (method) => {
    const server = await start(async (request) => new FastResponse(`${request.method}:${await request.text()}`));
    expect(await (await fetch(server.url, { method })).text()).toBe(`${method}:`);
    if (method === 'GET') return;
    expect(await (await fetch(server.url, { method, body: 'data' })).text()).toBe(`${method}:data`);
  });

  test('HEAD, 204 and 304 have no body', async () => {
    const server = await start((request) => {
      if (path(request) === '/204') return new FastResponse(null, { status: 204 });
      if (path(request) === '/304') return new FastResponse(null, { status: 304, headers: { etag: '"1"' } });
      return path(request) === '/std' ? new Response('12345') : new FastResponse('12345');
    });
    const client = await dial(server);
    client.send('HEAD /fast HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => count(text, '\r\n\r\n') === 1);
    expect(client.received().toLowerCase()).toContain('content-length: 5\r\n');
    client.send('HEAD /std HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => count(text, '\r\n\r\n') === 2);
    client.send(get('/204'));
    await client.until((text) => count(text, '\r\n\r\n') === 3);
    client.send(get('/304'));
    await client.until((text) => count(text, '\r\n\r\n') === 4);
    expect(client.received().endsWith('\r\n\r\n')).toBe(true);
    const bodiless = client.received().split('\r\n\r\n');
    expect(bodiless.slice(2).join()).not.toMatch(/content-length|transfer-encoding/i);
    expect(client.received()).not.toContain('12345');
  });

  test('an empty 200 has content-length 0', async () => {
    const server = await start(() => new FastResponse(null));
    const client = await dial(server);
    client.send(get('/'));
    await client.until((text) => text.endsWith('\r\n\r\n'));
    if (name === 'uws') expect(client.received()).toMatch(/content-length: 0/i);
    client.send(get('/'));
    await client.until((text) => count(text, 'HTTP/1.1 200') === 2);
  });

  test.each(['now', 'later'])('request headers, read %s', async (when) => {
    const server = await start(async (request) => {
      if (when === 'later') await sleep(1);
      const { headers } = request;
      const seen = {
        dup: headers.get('X-Dup'),
        agent: headers.get('user-agent'),
        missing: headers.get('x-missing'),
        has: [headers.has('x-dup'), headers.has('x-missing')],
        latin: headers.get('x-latin'),
      };
      const all = Object.fromEntries(headers);
      const each: string[] = [];
      headers.forEach((value, key) => {
        each.push(`${key}=${value}`);
      });
      const keys = [...headers.keys()];
      return FastResponse.json({ seen, all, each, keys, copy: new Headers(headers).get('x-dup') });
    });
    const client = await dial(server);
    client.send(
      Buffer.from(
        get('/', 'X-Dup: a\r\nUser-Agent: t/1\r\nx-dup: b, c\r\nX-Latin: h\u00c3\u00a9.\r\nConnection: close\r\n'),
        'latin1',
      ),
    );
    await client.untilClosed();
    const text = Buffer.from(client.received(), 'latin1').toString('utf8');
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
    expect(body.seen).toEqual({
      dup: 'a, b, c',
      agent: 't/1',
      missing: null,
      has: [true, false],
      latin: 'h\u00c3\u00a9.',
    });
    expect(body.all).toMatchObject({ host: 'shop.test', 'x-dup': 'a, b, c', 'user-agent': 't/1' });
    expect(body.each).toContain('x-dup=a, b, c');
    expect(body.keys).toEqual([...body.keys].sort());
    expect(body.copy).toBe('a, b, c');
  });

  test('many and long headers are accepted, too many bytes are refused', async () => {
    const server = await start((request) => new FastResponse(String(request.headers.get('cookie')?.length)));
    expect(await (await fetch(server.url, { headers: { cookie: 'c'.repeat(12_000) } })).text()).toBe('12000');
    const client = await dial(server);
    client.send(get('/', `X-Big: ${'x'.repeat(40_000)}\r\n`));
    await client.untilClosed();
    expect(client.received()).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('is a Request', async () => {
    const server = await start(async (request) => {
      const clone = request.clone();
      return FastResponse.json({
        request: request instanceof Request,
        headers: request.headers instanceof Headers,
        ip: (request as Request & { ip?: string }).ip,
        clone: await clone.text(),
        text: await request.text(),
        used: request.bodyUsed,
        cache: request.cache,
      });
    });
    const answer = await fetch(server.url, { method: 'POST', body: 'abc' });
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      request: true,
      headers: true,
      ip: '127.0.0.1',
      clone: 'abc',
      text: 'abc',
      used: true,
    });
    expect(body.cache).toBe('default');
  });

  test('JSON body, read immediately, later and as a stream', async () => {
    const server = await start(async (request) => {
      if (path(request) === '/late') await sleep(20);
      if (path(request) === '/stream') return new FastResponse(await new Response(request.body).text());
      return FastResponse.json(await request.json());
    });
    const send = { method: 'POST', body: '{"a":[1,"é"]}', headers: { 'content-type': 'application/json' } };
    for (const target of ['/now', '/late', '/stream']) {
      expect(await (await fetch(server.url + target, send)).json()).toEqual({ a: [1, 'é'] });
    }
  });

  test('a body can be read once', async () => {
    const server = await start(async (request) => {
      await request.text();
      return new FastResponse(
        await request.text().then(
          () => 'twice',
          (error: Error) => error.name,
        ),
      );
    });
    expect(await (await fetch(server.url, { method: 'POST', body: 'x' })).text()).toBe('TypeError');
  });

  test('form data', async () => {
    const server = await start(async (request) => {
      const form = await request.formData();
      return new FastResponse(`${form.get('a')} ${await (form.get('file') as File).text()}`);
    });
    const form = new FormData();
    form.set('a', 'ü');
    form.set('file', new File(['content'], 'f.txt'));
    expect(await (await fetch(server.url, { method: 'POST', body: form })).text()).toBe('ü content');
  });

  test('chunked request body in pieces', async () => {
    const server = await start(async (request) => new FastResponse(`<${await request.text()}>`));
    const client = await dial(server);
    client.send(post('/', 'Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n'));
    await sleep(20);
    client.send('2\r\nde\r');
    await sleep(20);
    client.send('\n0\r\n\r\n');
    await client.until((text) => text.endsWith('<abcde>'));
  });

  test('empty body with a JSON content type', async () => {
    const server = await start(async (request) => {
      const text = await request.text();
      return new FastResponse(`${request.headers.get('content-type')} ${text.length}`);
    });
    const client = await dial(server);
    client.send(post('/', 'Content-Type: application/json\r\nContent-Length: 0\r\n'));
    await client.until((text) => text.endsWith('application/json 0'));
    client.send(post('/', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'));
    await client.until((text) => count(text, 'application/json 0') === 2);
  });

  test('binary body, both ways', async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 8)) & 255);
    const server = await start(async (request) => new FastResponse(await request.arrayBuffer()));
    const back = await (await fetch(server.url, { method: 'POST', body: bytes })).arrayBuffer();
    expect(Buffer.from(back).equals(Buffer.from(bytes))).toBe(true);
  });

  test.each(['declared', 'chunked'])('413 for a body that is too large, %s', async (how) => {
    let runs = 0;
    const server = await start(
      () => {
        runs++;
        return new FastResponse('ran');
      },
      {
        maxBodyBytes: 1000,
        faultResponse: (status) => ({ headers: { 'content-type': 'application/json' }, body: `{"fault":${status}}` }),
      },
    );
    const client = await dial(server);
    if (how === 'declared') client.send(post('/', 'Content-Length: 5000\r\n', 'x'.repeat(100)));
    else client.send(post('/', 'Transfer-Encoding: chunked\r\n', `400\r\n${'x'.repeat(1024)}\r\n`));
    await client.until((text) => text.includes('{"fault":413}'));
    expect(client.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(client.received().toLowerCase()).toContain('content-type: application/json');
    await client.untilClosed();
    expect(runs).toBe(0);
    expect(server.activeRequests()).toBe(0);
  });

  test('the client of a refused large upload reads 413 and sees no reset', async () => {
    const server = await start(() => new FastResponse('ran'), { maxBodyBytes: 1000 });
    const answer = await fetch(server.url, { method: 'POST', body: new Uint8Array(3_000_000) });
    expect(answer.status).toBe(413);
  });

  test.each(['declared', 'chunked'])(
    '503 for a large body while others fill the memory, a small one passes: %s',
    async (how) => {
      const options = { maxBodyBytes: 1_000_000, maxBufferedBytes: 400_000 };
      const server = await start(async (request) => new FastResponse(String((await request.text()).length)), options);
      const part = 'x'.repeat(200_000);
      const filling = await dial(server);
      filling.send(post('/', 'Content-Length: 250000\r\n', part));
      await sleep(100);
      const refused = await dial(server);
      if (how === 'declared') refused.send(post('/', 'Content-Length: 200000\r\n', part));
      else refused.send(post('/', 'Transfer-Encoding: chunked\r\n', `30d40\r\n${part}\r\n0\r\n\r\n`));
      await refused.until((text) => text.startsWith('HTTP/1.1 503 '));
      expect(refused.received().toLowerCase()).toContain('retry-after: 1\r\n');
      // A small body is accepted. The body that fills the memory continues. Then there is room again.
      const length = async (size: number) =>
        (await fetch(server.url, { method: 'POST', body: new Uint8Array(size) })).text();
      expect(await length(16_384)).toBe('16384');
      expect(server.bodies.refused).toEqual({ too_large: 0, no_memory: 1 });
      filling.send('x'.repeat(50_000));
      await filling.until((text) => text.includes('250000'));
      expect(await length(250_000)).toBe('250000');
      const leaving = await dial(server);
      leaving.send(post('/', 'Content-Length: 250000\r\n', part));
      await sleep(100);
      leaving.socket.destroy();
      await until(() => server.activeRequests() === 0);
      expect(await length(250_000)).toBe('250000');
      expect(server.bodies.held).toBe(0);
    },
  );

  test('the route declares the body limit, and the answer names it', async () => {
    const asked: string[] = [];
    const server = await start(async (request) => new FastResponse(String((await request.text()).length)), {
      maxBodyBytes: 200_000,
      bodyLimitOf(method, target) {
        asked.push(`${method} ${target}`);
        return target === '/large' ? 1_000_000 : 20_000;
      },
      faultResponse: (status, limit) => ({ headers: {}, body: `${status} ${limit}` }),
    });
    const send = async (target: string, size: number, chunked: boolean) => {
      const client = await dial(server);
      if (chunked) {
        client.send(post(target, 'Transfer-Encoding: chunked\r\n'));
        for (let left = size; left > 0; left -= 8192) {
          const part = 'x'.repeat(Math.min(left, 8192));
          client.send(`${part.length.toString(16)}\r\n${part}\r\n`);
        }
        client.send('0\r\n\r\n');
      } else client.send(post(target, `Content-Length: ${size}\r\n`, 'x'.repeat(size)));
      await client.until((text) => /\r\n\r\n[\s\S]*\d/.test(text));
      client.socket.destroy();
      return client
        .received()
        .slice(client.received().indexOf('\r\n\r\n') + 4)
        .trim();
    };
    for (const chunked of [false, true]) {
      expect(await send('/small?q=1', 20_000, chunked)).toContain('20000');
      expect(await send('/small', 20_001, chunked)).toContain('413 20000');
      expect(await send('/large', 200_000, chunked)).toContain('200000');
      expect(await send('/large', 200_001, chunked)).toContain('413 200000');
    }
    expect(new Set(asked)).toEqual(new Set(['POST /small', 'POST /large']));
    const before = asked.length;
    expect(await send('/small', 16_384, false)).toContain('16384');
    expect(asked.length).toBe(before);
    expect(server.bodies.refused.too_large).toBe(4);
  });

  test('a body counts in the budget until the application has read it', async () => {
    let go = () => {};
    const wait = new Promise<void>((resolve) => {
      go = resolve;
    });
    const server = await start(
      async (request) => {
        if (path(request) === '/ignores') return new FastResponse('ignored');
        await wait;
        const text = await request.text();
        await sleep(0);
        return new FastResponse(`${text.length} ${server.bodies.held}`);
      },
      { maxBufferedBytes: 200_000 },
    );
    const client = await dial(server);
    client.send(post('/', 'Content-Length: 100000\r\n', 'x'.repeat(100_000)));
    await until(() => server.bodies.held >= 100_000);
    const other = await fetch(server.url, { method: 'POST', body: new Uint8Array(100_000) });
    expect(other.status).toBe(503);
    expect(other.headers.get('retry-after')).toBe('1');
    go();
    await client.until((text) => text.endsWith('100000 0'));
    expect(await (await fetch(`${server.url}/ignores`, { method: 'POST', body: new Uint8Array(100_000) })).text()).toBe(
      'ignored',
    );
    await until(() => server.bodies.held === 0);
  });

  test('small bodies are limited too, by the whole budget', async () => {
    const server = await start(async (request) => new FastResponse(await request.text()), {
      maxBufferedBytes: 100_000,
    });
    const clients = await Promise.all(Array.from({ length: 7 }, () => dial(server)));
    for (const client of clients) client.send(post('/', 'Content-Length: 16000\r\n', 'x'.repeat(15_900)));
    await until(() => server.bodies.refused.no_memory > 0);
    expect(server.bodies.held).toBeLessThanOrEqual(100_000);
    await until(() => clients.some((client) => client.received().startsWith('HTTP/1.1 503 ')));
  });

  test('500 connections that send 1 MB each hold no more than the budget, and small requests are accepted', async () => {
    const most = 16 * 1024 * 1024;
    let peak = 0;
    const server = await start(
      async (request) => {
        peak = Math.max(peak, server.bodies.held);
        return new FastResponse(String((await request.text()).length));
      },
      { maxBufferedBytes: most },
    );
    const before = process.memoryUsage();
    const clients = await Promise.all(Array.from({ length: 500 }, () => dial(server)));
    const part = Buffer.alloc(1_000_000, 'x');
    for (const client of clients) {
      client.send(post('/', 'Content-Length: 1048576\r\n'));
      client.send(part);
    }
    let external = 0;
    for (let i = 0; i < 20; i++) {
      await sleep(50);
      peak = Math.max(peak, server.bodies.held);
      external = Math.max(external, process.memoryUsage().arrayBuffers - before.arrayBuffers);
    }
    expect(peak).toBeGreaterThan(most / 2);
    expect(peak).toBeLessThanOrEqual(0.75 * most);
    // Memory that is not of the bodies: the chunks being read, and the bytes that this test has not sent yet.
    expect(external).toBeLessThan(most + 64 * 1024 * 1024);
    expect(await (await fetch(server.url, { method: 'POST', body: 'x'.repeat(10_000) })).text()).toBe('10000');
    for (const client of clients) client.socket.destroy();
    await until(() => server.bodies.held === 0);
  });

  test('a body of exactly the limit is accepted', async () => {
    const server = await start(async (request) => new FastResponse(String((await request.text()).length)), {
      maxBodyBytes: 1000,
    });
    expect(await (await fetch(server.url, { method: 'POST', body: 'x'.repeat(1000) })).text()).toBe('1000');
  });

  test.each(['Content-Length: 10\r\n', 'Transfer-Encoding: chunked\r\n'])(
    '408 for a slow body, %j',
    async (framing) => {
      let runs = 0;
      const server = await start(
        () => {
          runs++;
          return new FastResponse('ran');
        },
        {
          bodyTimeoutMs: 150,
          faultResponse: (status) => ({ headers: { 'content-type': 'text/plain' }, body: `fault ${status}` }),
        },
      );
      const client = await dial(server);
      client.send(post('/', framing, framing.startsWith('C') ? 'ab' : '2\r\nab\r\n'));
      await client.untilClosed();
      expect(client.received()).toMatch(/^HTTP\/1\.1 408 /);
      expect(client.received()).toContain('fault 408');
      expect(runs).toBe(0);
      expect(server.activeRequests()).toBe(0);
    },
  );

  test.each([
    ['malformed length', 'Content-Length: 3x\r\n', 'abc'],
    ['two lengths', 'Content-Length: 3\r\nContent-Length: 4\r\n', 'abc'],
    ['length and chunked', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['unknown transfer encoding', 'Transfer-Encoding: identity\r\n', ''],
  ])('refuses %s', async (_, framing, body) => {
    let runs = 0;
    const server = await start(() => {
      runs++;
      return new FastResponse('ran');
    });
    const client = await dial(server);
    client.send(post('/', framing, body));
    await client.untilClosed();
    expect(client.received()).toMatch(/^HTTP\/1\.1 400 /);
    expect(runs).toBe(0);
  });

  test('client abort during the handler fires the signal, and the server continues', async () => {
    let reason: unknown;
    let finished = false;
    const server = await start(async (request) => {
      if (path(request) === '/next') return new FastResponse('next');
      request.signal.addEventListener('abort', () => {
        reason = request.signal.reason;
      });
      await until(() => reason !== undefined);
      finished = true;
      return new FastResponse('too late');
    });
    const client = await dial(server);
    client.send(get('/wait'));
    await until(() => server.activeRequests() === 1);
    client.socket.destroy();
    await until(() => finished);
    expect(reason).toBeInstanceOf(Error);
    expect(await (await fetch(`${server.url}/next`)).text()).toBe('next');
    await until(() => server.activeRequests() === 0);
  });

  test('a signal that is read after the abort is aborted', async () => {
    let aborted: boolean | undefined;
    let go = false;
    const server = await start(async (request) => {
      await until(() => go);
      aborted = request.signal.aborted;
      return new FastResponse('x');
    });
    const client = await dial(server);
    client.send(get('/'));
    await until(() => server.activeRequests() === 1);
    client.socket.destroy();
    await sleep(50);
    go = true;
    await until(() => aborted !== undefined);
    expect(aborted).toBe(true);
  });

  test('client abort during the body: the application does not run', async () => {
    let runs = 0;
    const server = await start(() => {
      runs++;
      return new FastResponse('ok');
    });
    const client = await dial(server);
    client.send(post('/', 'Content-Length: 1000\r\n', 'only this'));
    await until(() => server.activeRequests() === 1);
    client.socket.destroy();
    await until(() => server.activeRequests() === 0);
    expect(runs).toBe(0);
    expect(await (await fetch(server.url)).text()).toBe('ok');
  });

  test('pipelined requests are answered in order, whether or not the handler is synchronous', async () => {
    const server = await start((request) => {
      const target = path(request);
      if (target.startsWith('/sync')) return new FastResponse(`<${target}>`);
      return (async () => {
        await Promise.resolve();
        return new FastResponse(`<${target}${await request.text()}>`);
      })();
    });
    const client = await dial(server);
    client.send(
      get('/sync1') +
        get('/async2') +
        post('/async3', 'Content-Length: 3\r\n', 'abc') +
        get('/sync4') +
        get('/async5') +
        get('/sync6'),
    );
    await client.until((text) => text.endsWith('</sync6>'));
    expect(client.received().match(/<[^>]*>/g)).toEqual([
      '</sync1>',
      '</async2>',
      '</async3abc>',
      '</sync4>',
      '</async5>',
      '</sync6>',
    ]);
  });

  test('pipelined behind a request that waits for I/O', async () => {
    const ran: string[] = [];
    const server = await start(async (request) => {
      ran.push(path(request));
      if (path(request) === '/slow') await sleep(30);
      return new FastResponse(`<${path(request)}>`);
    });
    const client = await dial(server);
    client.send(get('/first') + get('/slow') + get('/second'));
    if (name === 'node') {
      await client.until((text) => text.endsWith('</second>'));
      expect(client.received().match(/<[^>]*>/g)).toEqual(['</first>', '</slow>', '</second>']);
      return;
    }
    // uWS does not queue requests here: it closes the connection, and the second request has not run.
    await client.untilClosed();
    await sleep(50);
    expect(client.received()).not.toContain('second>');
    expect(ran).toEqual(['/first', '/slow']);
    await until(() => server.activeRequests() === 0);
  });

  test('keep-alive: one connection, many requests', async () => {
    const server = await start(async (request) => {
      if (path(request).endsWith('5')) await sleep(1);
      return new FastResponse(`<${path(request)}>`);
    });
    const client = await dial(server);
    for (let i = 0; i < 50; i++) {
      client.send(get(`/r${i}`));
      await client.until((text) => text.endsWith(`</r${i}>`));
    }
    expect(client.closed()).toBe(false);
  });

  test('the server closes the connection after Connection: close of the client', async () => {
    const server = await start(async () => new FastResponse('bye'));
    const client = await dial(server);
    client.send(get('/', 'Connection: close\r\n'));
    await client.untilClosed();
    expect(client.received().endsWith('bye')).toBe(true);
  });

  test.each(['bytes', 'string', 'stream', 'sized stream'])('5 MB arrive intact at a slow reader: %s', async (kind) => {
    const bytes = Buffer.alloc(5_000_000);
    for (let i = 0; i < bytes.length; i++) bytes[i] = 32 + ((i * 31 + (i >> 10)) % 90);
    const stream = () => {
      let at = 0;
      return new ReadableStream({
        pull(controller) {
          if (at >= bytes.length) return controller.close();
          const size = at % 3 === 0 ? 100_001 : 7;
          controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)));
          at += size;
        },
      });
    };
    const server = await start(() => {
      if (kind === 'bytes') return new FastResponse(new Uint8Array(bytes));
      if (kind === 'string') return new FastResponse(bytes.toString('latin1'));
      if (kind === 'stream') return new FastResponse(stream());
      return new FastResponse(stream(), { headers: { 'content-length': String(bytes.length) } });
    });
    const answer = await fetch(server.url);
    if (kind !== 'stream') expect(answer.headers.get('content-length')).toBe('5000000');
    const parts: Uint8Array[] = [];
    let reads = 0;
    for await (const part of answer.body as ReadableStream<Uint8Array>) {
      parts.push(part);
      if (reads++ < 10) await sleep(20);
    }
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
    await until(() => server.activeRequests() === 0);
  });

  test('a stream that begins while the server is closing ends normally, and the connection is closed', async () => {
    let begin = () => {};
    const asked = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const server = await start(async () => {
      begin();
      await sleep(50);
      return new FastResponse(
        new ReadableStream({
          async pull(controller) {
            await sleep(20);
            controller.enqueue(Buffer.from('all of it'));
            controller.close();
          },
        }),
      );
    });
    const client = await dial(server);
    client.send(get('/'));
    await asked;
    const closing = server.close(5_000);
    await client.untilClosed();
    expect(client.received().split('\r\n\r\n').slice(1).join('|')).toBe('9\r\nall of it\r\n0|');
    await closing;
  });

  test('a slow reader gets a whole chunk, also when no chunk follows', async () => {
    let release = () => {};
    const later = new Promise<void>((resolve) => {
      release = resolve;
    });
    let pulls = 0;
    const server = await start(
      () =>
        new FastResponse(
          new ReadableStream(
            {
              async pull(controller) {
                pulls += 1;
                // Asynchronous, like a response from another server.
                await sleep(1);
                if (pulls <= 3) controller.enqueue(new Uint8Array(4_000_000).fill(64 + pulls));
                else await later.then(() => controller.close());
              },
            },
            { highWaterMark: 0 },
          ),
        ),
    );
    const client = await dial(server, true);
    client.send(get('/'));
    await sleep(300);
    let bytes = 0;
    let tail = '';
    client.socket.on('data', (data) => {
      bytes += data.length;
      tail = (tail + data.toString('latin1')).slice(-16);
    });
    await until(() => bytes > 12_000_000 && /C(\r\n)?$/.test(tail));
    release();
    await until(() => tail.endsWith('0\r\n\r\n'));
  });

  test.each([65_536, 20])(
    'a stalled reader stops the producer: chunks of %i bytes',
    async (size) => {
      let produced = 0;
      let cancelled = false;
      const server = await start(
        () =>
          new FastResponse(
            new ReadableStream(
              {
                pull(controller) {
                  produced += size;
                  // The kernel may buffer several MB. This is far more.
                  if (produced > 100_000_000) controller.close();
                  else controller.enqueue(new Uint8Array(size).fill(120));
                },
                cancel() {
                  cancelled = true;
                },
              },
              { highWaterMark: 0 },
            ),
          ),
      );
      const client = await dial(server, true);
      client.send(get('/'));
      // The kernel's probes of a full window let some more bytes through, at growing intervals.
      let stopped = -1;
      let quietSamples = 0;
      for (let i = 0; i < 40 && quietSamples < 5; i++) {
        await sleep(300);
        quietSamples = produced === stopped ? quietSamples + 1 : 0;
        stopped = produced;
      }
      expect(quietSamples).toBe(5);
      expect(produced).toBeLessThan(20_000_000);
      client.socket.on('data', () => {});
      await until(() => produced > stopped);
      client.socket.destroy();
      await until(() => cancelled);
      await until(() => server.activeRequests() === 0);
    },
    20_000,
  );

  test('a client that sends requests and never reads does not get unlimited answers', async () => {
    let runs = 0;
    const server = await start(() => {
      runs++;
      return new FastResponse('x'.repeat(2000));
    });
    const client = await dial(server, true);
    const many = get('/').repeat(100);
    for (let i = 0; i < 500 && !client.closed(); i++) {
      client.send(many);
      await sleep(1);
    }
    let last = -1;
    for (let i = 0; i < 20 && last !== runs; i++) {
      last = runs;
      await sleep(100);
    }
    // The client sent 50,000 requests. The buffers of the kernel hold a few thousand answers.
    expect(runs).toBeLessThan(20_000);
  });

  test('chunks of a stream arrive when they are produced', async () => {
    let next: (() => void) | undefined;
    const server = await start(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              for (const part of ['one', 'two', 'three']) {
                controller.enqueue(new TextEncoder().encode(part));
                await new Promise<void>((resolve) => {
                  next = resolve;
                });
              }
              controller.close();
            },
          }),
        ),
    );
    const client = await dial(server);
    client.send(get('/'));
    for (const part of ['one', 'two', 'three']) {
      await client.until((text) => text.includes(part));
      next?.();
    }
    await client.until((text) => text.endsWith('0\r\n\r\n'));
    expect(client.received().toLowerCase()).toContain('transfer-encoding: chunked');
    expect(client.received().toLowerCase()).not.toContain('content-length');
  });

  test.each([
    ['stream error', { error: new Error('broken'), length: undefined }],
    ['stream error without a reason', { error: undefined, length: undefined }],
    ['fewer bytes than declared', { error: null, length: '100' }],
  ])('%s midway closes the connection', async (_, { error, length }) => {
    const server = await start(() => {
      let pulls = 0;
      const body = new ReadableStream({
        async pull(controller) {
          if (pulls++ === 0) return controller.enqueue(new TextEncoder().encode('half'));
          await sleep(20);
          if (error === null) controller.close();
          else controller.error(error);
        },
      });
      return new FastResponse(body, { headers: length ? { 'content-length': length } : {} });
    });
    const client = await dial(server);
    client.send(get('/'));
    await client.untilClosed();
    expect(client.received()).toContain('half');
    expect(client.received()).not.toContain('\r\n0\r\n\r\n');
    await until(() => server.activeRequests() === 0);
    expect(await fetch(server.url).then((answer) => answer.status)).toBe(200);
  });

  test.each([
    [
      'thrown',
      () => {
        throw new Error('bug');
      },
    ],
    ['rejected', () => Promise.reject(new Error('bug'))],
    [
      'rejected later',
      async () => {
        await sleep(5);
        throw new Error('bug');
      },
    ],
    ['no response', () => undefined as unknown as Response],
    ['no response, later', async () => undefined as unknown as Response],
    ['impossible status', () => new FastResponse('x', { status: 999 })],
  ] as [string, FetchHandler][])('500 for a failing application: %s', async (_, broken) => {
    const server = await start((request) => (path(request) === '/ok' ? new FastResponse('fine') : broken(request)), {
      faultResponse: (status) => ({ headers: { 'content-type': 'text/plain' }, body: `fault ${status}` }),
    });
    const client = await dial(server);
    client.send(get('/broken'));
    await client.until((text) => text.endsWith('fault 500'));
    expect(client.received()).toMatch(/^HTTP\/1\.1 500 /);
    client.send(get('/ok'));
    await client.until((text) => text.endsWith('fine'));
  });

  test.each([
    { 'x-bad': 'a\r\nSet-Cookie: evil=1' },
    { 'x-bad': 'a\nb' },
    { 'x-bad': 'a\0b' },
    { 'x-bad': 'snow \u2603' },
    { 'bad name': 'a' },
    { 'bad\r\nname': 'a' },
  ])('refuses to send %j', async (headers) => {
    const server = await start((request) =>
      path(request) === '/ok'
        ? new FastResponse('fine')
        : new FastResponse('body', { headers: headers as unknown as Record<string, string> }),
    );
    const client = await dial(server);
    client.send(get('/bad'));
    await client.until((text) => text.includes('\r\n\r\n'));
    expect(client.received()).toMatch(/^HTTP\/1\.1 500 /);
    expect(client.received()).not.toMatch(/evil|x-bad|snow/);
    client.send(get('/ok'));
    await client.until((text) => text.endsWith('fine'));
  });

  test('several cookies, Latin-1 values, a status and its text', async () => {
    const server = await start((request) => {
      const headers = new Headers({ 'x-latin': 'h\u00e9' });
      headers.append('set-cookie', 'a=1; Path=/');
      headers.append('set-cookie', 'b=2');
      const init = { status: 201, statusText: 'Made', headers };
      return path(request) === '/fast' ? new FastResponse('x', init) : new Response('x', init);
    });
    for (const target of ['/fast', '/standard']) {
      const answer = await fetch(server.url + target);
      expect(answer.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
      expect(answer.headers.get('x-latin')).toBe('h\u00e9');
      expect([answer.status, answer.statusText, await answer.text()]).toEqual([201, 'Made', 'x']);
    }
  });

  test('garbage is answered with 400 or the connection is closed, and the server continues', async () => {
    const server = await start(() => new FastResponse('ok'));
    const client = await dial(server);
    client.send('GET / HTTX/1.1\r\nHost: a\r\n\r\n');
    await client.untilClosed();
    expect(client.received()).not.toContain('200');
    expect(await (await fetch(server.url)).text()).toBe('ok');
  });

  test('an address in use is an error that names it', async () => {
    const first = await start(() => new FastResponse('x'));
    await expect(serve({ fetch: () => new FastResponse('y'), port: first.port })).rejects.toThrow(
      `127.0.0.1:${first.port}`,
    );
    const foreign = createServer();
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    const { port } = foreign.address() as AddressInfo;
    await expect(serve({ fetch: () => new FastResponse('y'), port })).rejects.toThrow(`127.0.0.1:${port}`);
    foreign.close();
  });

  test('close: running requests finish, new ones are refused, idle connections are closed', async () => {
    let go = false;
    const server = await start(async (request) => {
      if (path(request) === '/wait') await until(() => go);
      return new FastResponse(`<${path(request)}>`);
    });
    const idle = await dial(server);
    idle.send(get('/idle'));
    await idle.until((text) => text.endsWith('</idle>'));
    const busy = await dial(server);
    busy.send(get('/wait'));
    await until(() => server.activeRequests() === 1);

    let closed = false;
    const closing = server.close().then(() => {
      closed = true;
    });
    await sleep(50);
    expect(closed).toBe(false);
    expect(server.close()).toBeInstanceOf(Promise);
    await expect(dial(server)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    go = true;
    await closing;
    await busy.untilClosed();
    expect(busy.received()).toMatch(/connection: close/i);
    expect(busy.received().endsWith('</wait>')).toBe(true);
    await idle.untilClosed();
    expect(server.activeRequests()).toBe(0);
  });

  test('close: a large response in flight still arrives', async () => {
    const server = await start(() => new FastResponse(new Uint8Array(5_000_000)));
    const answer = await fetch(server.url);
    const closing = server.close();
    await sleep(30);
    expect((await answer.arrayBuffer()).byteLength).toBe(5_000_000);
    await closing;
  });

  test('close: waits for waitUntil, cuts after the deadline', async () => {
    let saved = false;
    const server = await start((request) => {
      const background = sleep(60).then(() => {
        saved = true;
      });
      (request as Request & { waitUntil(promise: Promise<unknown>): void }).waitUntil(background);
      return new FastResponse('x');
    });
    await (await fetch(server.url)).text();
    await server.close();
    expect(saved).toBe(true);

    let aborted = false;
    const stuck = await start((request) => {
      request.signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise<Response>(() => {});
    });
    const client = await dial(stuck);
    client.send(get('/'));
    await until(() => stuck.activeRequests() === 1);
    const begin = performance.now();
    await stuck.close(100);
    expect(performance.now() - begin).toBeLessThan(10_000);
    await client.untilClosed();
    await until(() => aborted);
  });

  test('an h3 application', async () => {
    const app = new H3(silent.config);
    app.get('/items/:id', (event) => ({
      id: event.context.params?.id,
      q: event.url.searchParams.get('q'),
      auth: event.req.headers.get('authorization'),
    }));
    app.get('/text', (event) => {
      event.res.headers.append('set-cookie', 'a=1');
      event.res.headers.append('set-cookie', 'b=2');
      return 'text';
    });
    app.post('/echo', async (event) => ({ body: await event.req.json() }));
    app.get('/fast', () => new FastResponse('{"ok":true}', { headers: { 'content-type': 'application/json' } }));
    app.get('/fail', () => {
      throw new Error('bug');
    });
    const server = await start(app.fetch);
    const item = await fetch(`${server.url}/items/7?q=a%20b`, { headers: { authorization: 'Bearer t' } });
    expect(await item.json()).toEqual({ id: '7', q: 'a b', auth: 'Bearer t' });
    expect(item.headers.get('content-type')).toContain('application/json');
    const text = await fetch(`${server.url}/text`);
    expect([await text.text(), text.headers.getSetCookie()]).toEqual(['text', ['a=1', 'b=2']]);
    const echo = await fetch(`${server.url}/echo`, { method: 'POST', body: '{"n":1}' });
    expect(await echo.json()).toEqual({ body: { n: 1 } });
    expect(await (await fetch(`${server.url}/fast`)).json()).toEqual({ ok: true });
    expect((await fetch(`${server.url}/fast`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${server.url}/nothing`)).status).toBe(404);
    expect((await fetch(`${server.url}/fail`)).status).toBe(500);
    expect((await fetch(`${server.url}/bad%zz`)).status).toBe(400);
  });
});
