import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { serveNode } from './node-transport.ts';

/**
 * A client that sends requests and reads no answers must not fill the memory of the node transport or delay its
 * shutdown.
 */
let server: Awaited<ReturnType<typeof serveNode>> | undefined;
afterEach(() => server?.close(100));
const start = async (fetch: () => Response) => {
  server = await serveNode({ fetch });
  return server;
};
const get = 'GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n';

async function dial(port: number) {
  const socket = connect(port, '127.0.0.1');
  let closed = false;
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, closed: () => closed };
}

const until = async (holds: () => boolean): Promise<void> => {
  for (const end = performance.now() + 30_000; !holds(); await sleep(10))
    if (performance.now() > end) throw new Error(`not within 30 s: ${holds}`);
};

test('answers that wait behind an unread one are released when their connection closes', async () => {
  let ran = 0;
  const { port, activeRequests, close } = await start(() => {
    ran += 1;
    return new Response(Buffer.alloc(4_000_000));
  });
  const { socket } = await dial(port);
  socket.write(get.repeat(10));
  await until(() => ran === 10);
  // The kernel takes the first one or two answers: its buffers hold some 10 MB.
  expect(activeRequests()).toBeGreaterThanOrEqual(5);
  socket.destroy();
  await until(() => activeRequests() === 0);
  const begun = performance.now();
  await close(10_000);
  expect(performance.now() - begun).toBeLessThan(8_000);
});

test('a connection with too many unanswered requests is closed, and the excess requests do not run', async () => {
  let ran = 0;
  const { port } = await start(() => {
    ran += 1;
    return new Response(Buffer.alloc(4_000_000));
  });
  const { socket, closed } = await dial(port);
  socket.write(get.repeat(1_000));
  socket.resume();
  await until(closed);
  expect(ran).toBeLessThanOrEqual(16);
});

test('consecutive requests on one connection are all answered', async () => {
  const { port } = await start(() => new Response('hello'));
  const { socket } = await dial(port);
  let received = '';
  socket.on('data', (data: Buffer) => {
    received += data.toString();
  });
  for (const round of [1, 2, 3, 4, 5]) {
    socket.write(get.repeat(10));
    await until(() => received.split('hello').length - 1 === round * 10);
  }
  socket.destroy();
});
