import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FastResponse } from 'srvx';
import { afterEach, describe, expect, test } from 'vitest';
import { type BodyStream, BodyStreamError, bodyStreamOf } from './body-stream.ts';
import { MAX_HELD } from './incoming-body.ts';
import { serveNode } from './node/node-transport.ts';
import type { FetchHandler, Transport, TransportOptions } from './transport.ts';
import { serveUws } from './uws/uws-transport.ts';

const servers: Transport[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close(200)));
});

const until = async (check: () => boolean, limitMs = 30_000): Promise<void> => {
  const end = performance.now() + limitMs;
  while (!check()) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${check}`);
    await sleep(5);
  }
};

/** A raw connection. It stores what arrived. */
const dial = async (server: Transport) => {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let closed = false;
  let received = '';
  socket
    .on('error', () => {})
    .on('data', (data) => {
      received += data.toString('latin1');
    });
  socket.on('close', () => {
    closed = true;
  });
  // A socket that may stay half open does not end by itself.
  socket.on('end', () => socket.end());
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {
    socket,
    send: (text: string | Uint8Array) => socket.write(text),
    received: () => received,
    until: (check: (text: string) => boolean, limitMs?: number) => until(() => check(received), limitMs),
    untilClosed: (limitMs?: number) => until(() => closed, limitMs),
  };
};

const head = (headers: string) =>
  `POST /upload HTTP/1.1\r\nHost: shop.test\r\nContent-Type: image/png\r\n${headers}\r\n`;
const announced = (length: number, headers = '') => head(`Content-Length: ${length}\r\n${headers}`);
const chunked = head('Transfer-Encoding: chunked\r\n');
const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
const get = 'GET /next HTTP/1.1\r\nHost: shop.test\r\n\r\n';
const sizeOf = async (body: BodyStream): Promise<number> => {
  let size = 0;
  for await (const part of body) size += part.byteLength;
  return size;
};
const limit = 1_000_000;

/** Starts a server that `handle` answers: requests to /upload with its text, or with the fault of the body. */
const startOn = async (
  serve: typeof serveUws | typeof serveNode,
  handle: (body: BodyStream, request: Request) => Promise<string> | string,
  options: Partial<TransportOptions> = {},
) => {
  const errors: string[] = [];
  const fetch: FetchHandler = async (request) => {
    if (!request.url.includes('/upload')) return new FastResponse(`other:${(await request.text()).length}`);
    try {
      return new FastResponse(await handle(bodyStreamOf(request, limit), request));
    } catch (error) {
      if (!(error instanceof BodyStreamError)) throw error;
      errors.push(error.fault);
      return new FastResponse(`fault ${error.fault}`, { status: 400 });
    }
  };
  const server = await serve({
    fetch,
    maxBodyBytes: 100_000,
    streamLimitOf: (_method, path) => (path === '/upload' ? limit : 0),
    faultResponse: (status, most) => ({ headers: {}, body: `${status} ${most}` }),
    ...options,
  });
  servers.push(server);
  return Object.assign(server, { errors });
};

// Both transports in one test, at once: it waits longer than their own timeouts, which are not settings.
test('a handler that pauses longer than the timeouts of the transport still gets the whole body, on uws and on node', async () => {
  const upload = async (serve: typeof serveUws | typeof serveNode) => {
    const server = await startOn(
      serve,
      async (body) => {
        let size = 0;
        for await (const part of body) {
          if (size === 0) await sleep(14_000);
          size += part.byteLength;
        }
        return `size ${size}`;
      },
      // The time in which the handler lets the client wait does not count.
      { bodyTimeoutMs: 2_000 },
    );
    const client = await dial(server);
    client.send(announced(900_000));
    client.send(Buffer.alloc(900_000));
    await client.until((text) => text.includes('size 900000'), 20_000);
  };
  await Promise.all([upload(serveUws), upload(serveNode)]);
});

describe.each([
  { name: 'uws' as const, serve: serveUws },
  { name: 'node' as const, serve: serveNode },
])('streamed bodies on $name', ({ serve }) => {
  const start = (handle: Parameters<typeof startOn>[1], options?: Partial<TransportOptions>) =>
    startOn(serve, handle, options);
  const expectIdle = async (server: Transport) => {
    await until(() => server.activeRequests() === 0);
    expect(server.bodies.held).toBe(0);
  };

  test.each(['declared', 'chunked'])('all bytes arrive in order, with type and length: %s', async (how) => {
    const bytes = Uint8Array.from({ length: 900_000 }, (_, i) => (i * 7 + (i >> 8)) & 255);
    const server = await start(async (body) => {
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      return `${body.type} ${body.length} ${Buffer.concat(parts).equals(bytes)}`;
    });
    const body = how === 'declared' ? bytes : new Blob([bytes]).stream();
    const answer = await fetch(`${server.url}/upload?a=1`, {
      ...{ method: 'POST', body, headers: { 'content-type': 'image/png' }, duplex: 'half' },
    } as RequestInit);
    expect(await answer.text()).toBe(`image/png ${how === 'declared' ? bytes.length : 'null'} true`);
    await expectIdle(server);
  });

  test('the connection is used again after a declared body', async () => {
    const server = await start(async (body) => `size ${await sizeOf(body)};`);
    const client = await dial(server);
    for (const round of [1, 2, 3]) {
      client.send(`${announced(5)}hello`);
      await client.until((text) => text.split('size 5;').length - 1 === round);
    }
    client.send(get);
    await client.until((text) => text.includes('other:0'));
    // A body that fills the buffer with its last bytes leaves the connection readable.
    client.send(announced(700_000));
    client.send(Buffer.alloc(700_000));
    await client.until((text) => text.includes('size 700000;'));
    // A body in the same packet as its head, and an empty one.
    client.send(announced(0));
    await client.until((text) => text.includes('size 0;'));
  });

  test('other paths are collected as before', async () => {
    const server = await start(() => 'streamed');
    const answer = await fetch(`${server.url}/other`, { method: 'POST', body: 'x'.repeat(50_000) });
    expect(await answer.text()).toBe('other:50000');
    expect((await fetch(`${server.url}/other`, { method: 'POST', body: new Uint8Array(100_001) })).status).toBe(413);
  });

  test('a slow handler stops the client: 30 MB are never held', async () => {
    let most = 0;
    let go = false;
    const total = 30_000_000;
    const server = await start(
      async (body) => {
        let size = 0;
        for await (const part of body) {
          size += part.byteLength;
          most = Math.max(most, server.bodies.held);
          if (size > 1_000_000 && !go) await until(() => go, 10_000);
        }
        return `size ${size}`;
      },
      { streamLimitOf: () => 40_000_000 },
    );
    const client = await dial(server);
    client.send(announced(total));
    let sent = 0;
    const push = (): void => {
      while (sent < total) {
        const piece = Math.min(100_000, total - sent);
        sent += piece;
        if (!client.send(Buffer.alloc(piece))) {
          client.socket.once('drain', push);
          return;
        }
      }
    };
    push();
    await sleep(500);
    const stopped = sent;
    await sleep(300);
    expect(sent).toBe(stopped);
    // The buffers of the kernel on both sides hold some MB.
    expect(stopped).toBeLessThan(20_000_000);
    most = Math.max(most, server.bodies.held);
    go = true;
    await client.until((text) => text.includes(`size ${total}`), 15_000);
    expect(most).toBeGreaterThan(0);
    // The handler stopped; so did the transport, except for what the kernel had received (uWebSockets.js).
    expect(most).toBeLessThanOrEqual(MAX_HELD + 7_000_000);
    await expectIdle(server);
  });

  test('many chunks of one byte do not take more memory than their bytes', async () => {
    let go = false;
    const server = await start(async (body) => {
      await until(() => go);
      return `size ${await sizeOf(body)}`;
    });
    const client = await dial(server);
    client.send(chunked + '1\r\nx\r\n'.repeat(20_000));
    await until(() => server.bodies.held > 0);
    await sleep(200);
    expect(server.bodies.held).toBeLessThanOrEqual(2 * MAX_HELD);
    go = true;
    client.send('0\r\n\r\n');
    await client.until((text) => text.includes('size 20000'), 15_000);
  });

  test('5 GB announced: 413 at once, the application does not run', async () => {
    let ran = false;
    const server = await start(() => {
      ran = true;
      return 'ran';
    });
    const client = await dial(server);
    const begin = performance.now();
    client.send(announced(5_000_000_000));
    await client.until((text) => text.includes(`413 ${limit}`));
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect(client.received()).toMatch(/^HTTP\/1\.1 413 /);
    await client.untilClosed();
    expect(ran).toBe(false);
    expect(server.bodies.refused).toEqual({ too_large: 1, no_memory: 0 });
    await expectIdle(server);
  });

  test('the client of a refused upload reads 413 and sees no reset', async () => {
    const server = await start(() => 'ran');
    const answer = await fetch(`${server.url}/upload`, { method: 'POST', body: new Uint8Array(8_000_000) });
    expect([answer.status, (await answer.text()).trim()]).toEqual([413, `413 ${limit}`]);
  });

  test('a chunked body above its limit makes the iteration reject', async () => {
    const server = await start(async (body) => `size ${await sizeOf(body)}`);
    const client = await dial(server);
    client.send(chunked);
    for (let sent = 0; sent <= limit; sent += 50_000) client.send(chunk(50_000));
    await client.until((text) => text.includes('fault too_large'));
    expect(server.bodies.refused.too_large).toBe(1);
    await client.untilClosed();
    await expectIdle(server);
  });

  test.each([
    ['that stops', () => {}],
    [
      'of one byte per 100 ms, which arrives too slowly as a whole',
      (send: (text: string) => void) => setInterval(() => send('x'), 100),
    ],
  ])('a body %s ends with a timeout', async (_, feed) => {
    const small = 3_000;
    const server = await start(async (body) => `size ${await sizeOf(body)}`, {
      bodyTimeoutMs: 700,
      streamLimitOf: () => small,
    });
    const client = await dial(server);
    client.send(announced(small) + 'x'.repeat(500));
    const timer = feed((text) => client.send(text));
    await client.until((text) => text.includes('fault timeout'));
    await client.untilClosed();
    if (timer) clearInterval(timer);
    await expectIdle(server);
  });

  test.each(['reads', 'is busy'])(
    'the client leaves half-way while the handler %s: it rejects, and nothing is held',
    async (how) => {
      let cleaned = false;
      const server = await start(async (body) => {
        try {
          if (how === 'is busy') await sleep(300);
          return `size ${await sizeOf(body)}`;
        } finally {
          cleaned = true;
        }
      });
      const client = await dial(server);
      client.send(announced(500_000));
      client.send(Buffer.alloc(100_000));
      await until(() => server.bodies.held > 0 || how === 'reads');
      await sleep(50);
      client.socket.destroy();
      await until(() => cleaned);
      expect(server.errors).toEqual(['aborted']);
      await expectIdle(server);
    },
  );

  test('an early answer arrives at once, the rest of the body is discarded, and no request behind it runs', async () => {
    let total = 0;
    const server = await start(
      async (body) => {
        for await (const part of body) {
          total += part.byteLength;
          return 'refused';
        }
        return 'empty';
      },
      { streamLimitOf: (_method, path) => (path === '/upload' ? 40_000_000 : 0) },
    );
    const client = await dial(server);
    client.send(announced(3_000_000) + 'x'.repeat(1_000));
    await client.until((text) => text.includes('refused'));
    client.send(Buffer.concat([Buffer.alloc(3_000_000 - 1_000), Buffer.from(get)]));
    await client.untilClosed();
    expect(client.received().toLowerCase()).toContain('connection: close');
    expect(client.received()).not.toContain('other:');
    expect(total).toBe(1_000);
    await expectIdle(server);
  });

  test('a client that goes on sending after an early answer is cut', async () => {
    const server = await start(() => 'refused', { streamLimitOf: () => 1_000_000_000 });
    const client = await dial(server);
    client.send(announced(900_000_000));
    const timer = setInterval(() => client.send(Buffer.alloc(100_000)), 20);
    await client.untilClosed();
    clearInterval(timer);
    expect(client.received()).toContain('refused');
    await expectIdle(server);
  });

  test('a handler that throws is answered with 500, and the connection closes', async () => {
    const server = await start(() => {
      throw new Error('bug');
    });
    const client = await dial(server);
    client.send(`${announced(3_000)}x`);
    await client.until((text) => text.startsWith('HTTP/1.1 500 '));
    await client.untilClosed();
    await expectIdle(server);
  });

  test('a handler that stops reading and answers later: the rest is read, and the connection stays', async () => {
    const server = await start(async (body) => {
      for await (const _ of body) break;
      await sleep(200);
      return 'enough;';
    });
    const client = await dial(server);
    client.send(announced(600_000));
    client.send(Buffer.alloc(600_000));
    await client.until((text) => text.includes('enough;'));
    client.send(get);
    await client.until((text) => text.includes('other:0'));
    expect(server.bodies.held).toBe(0);
  });

  test('a request behind a chunked body in the same packet does not run before the body has ended', async () => {
    const server = await start(async (body) => `size ${await sizeOf(body)}`);
    const client = await dial(server);
    client.send(`${chunked}${chunk(10)}0\r\n\r\n`);
    await client.until((text) => text.includes('size 10'));
    const second = await dial(server);
    second.send(`${chunked}${chunk(10)}0\r\n\r\n${get}`);
    await sleep(200);
    // It runs after the answer (node:http), or the connection is closed (uWebSockets.js). It is never the first answer.
    expect(second.received()).not.toMatch(/^HTTP[\s\S]*other:[\s\S]*size/);
  });

  test('64 uploads of 3 MB at once stay within the memory for bodies; above it the answer is 503 with Retry-After', async () => {
    let go = false;
    let most = 0;
    const server = await start(
      async (body) => {
        let size = 0;
        for await (const part of body) {
          size += part.byteLength;
          most = Math.max(most, server.bodies.held);
          await until(() => go, 20_000);
          await sleep(10);
        }
        return `size ${size}`;
      },
      { maxBufferedBytes: 64 * 1024 * 1024, streamLimitOf: () => 4_000_000 },
    );
    const body = new Uint8Array(3_000_000);
    const upload = () => fetch(`${server.url}/upload`, { method: 'POST', body }).then((answer) => answer.text());
    const uploads = Array.from({ length: 64 }, upload);
    await sleep(1_000);
    most = Math.max(most, server.bodies.held);
    go = true;
    const answers = (await Promise.all(uploads)).map((text) => text.trim());
    expect(answers.filter((text) => text !== 'size 3000000' && text !== 'fault no_memory')).toEqual([]);
    // uWebSockets.js may receive more at once than there is room for. Nearly all uploads wait for each other instead.
    expect(answers.filter((text) => text.startsWith('size')).length).toBeGreaterThan(48);
    expect(most).toBeLessThanOrEqual(48 * 1024 * 1024);
    await expectIdle(server);

    const small = await start(async (stream) => `size ${await sizeOf(stream)}`, { maxBufferedBytes: 80_000 });
    const client = await dial(small);
    client.send(announced(500_000));
    await client.until((text) => text.startsWith('HTTP/1.1 503 '));
    expect(client.received().toLowerCase()).toContain('retry-after: 1\r\n');
    expect(small.bodies.refused.no_memory).toBe(1);
  });

  test('Expect: 100-continue', async () => {
    const server = await start(async (body) => `size ${await sizeOf(body)}`);
    const client = await dial(server);
    client.send(announced(5, 'Expect: 100-continue\r\n'));
    await client.until((text) => text.startsWith('HTTP/1.1 100 '));
    client.send('hello');
    await client.until((text) => text.includes('size 5'));
    const refused = await dial(server);
    refused.send(announced(5_000_000_000, 'Expect: 100-continue\r\n'));
    await refused.until((text) => text.includes('HTTP/1.1 413 '));
  });

  test('close: a running upload finishes; one that does not finish is cut at the deadline', async () => {
    const server = await start(async (body) => `size ${await sizeOf(body)}`);
    const [finishing, stuck] = [await dial(server), await dial(server)];
    for (const client of [finishing, stuck]) client.send(announced(500_000) + 'x'.repeat(1_000));
    await until(() => server.activeRequests() === 2);
    const closing = server.close(700);
    finishing.send(Buffer.alloc(499_000));
    await finishing.until((text) => text.includes('size 500000'));
    await closing;
    await stuck.untilClosed();
    await until(() => server.errors.length === 1);
    expect(server.errors).toEqual(['aborted']);
    await expectIdle(server);
  });

  test('a body is read once', async () => {
    const server = await start(async (body) => {
      await sizeOf(body);
      return sizeOf(body).then(
        () => 'twice',
        (error: Error) => error.name,
      );
    });
    expect(await (await fetch(`${server.url}/upload`, { method: 'POST', body: 'x' })).text()).toBe('TypeError');
  });
});
