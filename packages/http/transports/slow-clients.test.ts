import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FastResponse } from 'srvx';
import { afterAll, describe, expect, test } from 'vitest';
import { serveNode } from './node/node-transport.ts';
import type { FetchHandler, Transport, TransportOptions } from './transport.ts';
import { serveUws } from './uws/uws-transport.ts';

const servers: Transport[] = [];
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close(200)));
});

const until = async (check: () => boolean, limitMs: number): Promise<void> => {
  for (const end = performance.now() + limitMs; !check(); await sleep(20))
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${check}`);
};

// Run at the same time, because each waits for a timeout of the transport: 10 s, which node:http may start again once.
describe.concurrent.each([
  { name: 'uws', serve: serveUws },
  { name: 'node', serve: serveNode },
])('slow clients on $name', ({ serve }) => {
  const start = async (fetch: FetchHandler, options: Partial<TransportOptions> = {}) => {
    const server = await serve({ fetch, ...options });
    servers.push(server);
    return server;
  };
  /** Sends the bytes and reads nothing. */
  const dial = async (server: Transport, bytes: string) => {
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.write(bytes);
    return socket;
  };

  test.each(['bytes', 'stream'])('a client that never reads a large answer is cut off: %s', async (kind) => {
    let cancelled = false;
    const endless = () =>
      new ReadableStream(
        {
          pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
          cancel() {
            cancelled = true;
          },
        },
        { highWaterMark: 0 },
      );
    const server = await start(() => new FastResponse(kind === 'bytes' ? new Uint8Array(50_000_000) : endless()));
    await dial(server, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => server.activeRequests() === 1, 20_000);
    await until(() => server.activeRequests() === 0, 60_000);
    expect(cancelled).toBe(kind === 'stream');
  });

  test('a slow body holds memory until its deadline and no longer', async () => {
    const server = await start(() => new FastResponse('ran'), { bodyTimeoutMs: 1000, maxBufferedBytes: 100_000 });
    const socket = await dial(server, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n');
    const trickle = setInterval(() => socket.write('x'.repeat(1000)), 50);
    socket.resume().once('close', () => clearInterval(trickle));
    await until(() => server.bodies.held > 0, 20_000);
    await until(() => server.bodies.held === 0, 20_000);
    await until(() => server.activeRequests() === 0, 20_000);
    clearInterval(trickle);
  });

  test('a client that sends preflight requests and never reads does not get unlimited answers', async () => {
    let runs = 0;
    const server = await start(() => {
      runs++;
      return new FastResponse(null, { status: 204, headers: { 'x-filler': 'x'.repeat(2000) } });
    });
    const socket = await dial(server, '');
    const many = 'OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100);
    for (let i = 0; i < 500 && !socket.closed; i++) {
      socket.write(many);
      await sleep(1);
    }
    let last = -1;
    for (; last !== runs; await sleep(200)) last = runs;
    // The client sent 50,000 requests. The buffers of the kernel hold a few thousand answers.
    expect(runs).toBeLessThan(20_000);
  });
});
