import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { FastResponse } from 'srvx';
import { afterEach, describe, expect, test } from 'vitest';
import { serveNode } from './node/node-transport.ts';
import type { Transport } from './transport.ts';
import { serveUws } from './uws/uws-transport.ts';

const servers: Transport[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close(200)));
});

const get = 'GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n';
const post = 'POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 3\r\n\r\nabc';

const dial = async ({ port }: Transport) => {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const state = { received: '', closed: false };
  socket.on('error', () => {});
  socket.on('data', (data) => {
    state.received += data.toString('latin1');
  });
  socket.on('close', () => {
    state.closed = true;
  });
  await once(socket, 'connect');
  const answered = async (text: string): Promise<string> => {
    state.received = '';
    socket.write(text);
    for (const end = performance.now() + 30_000; !state.received.endsWith('hello'); await sleep(5))
      if (state.closed || performance.now() > end) throw new Error(`not answered: ${state.received}`);
    return state.received;
  };
  return { state, answered };
};

// A proxy keeps idle connections for its next requests. A request that is on its way when its connection is closed is lost.
describe.each([
  { name: 'uws' as const, serve: serveUws },
  { name: 'node' as const, serve: serveNode },
])('close with keepIdle on $name', ({ serve }) => {
  const start = async () => {
    const server = await serve({ fetch: () => new FastResponse('hello') });
    servers.push(server);
    return server;
  };

  test('idle connections stay open, and each ends with its next answer', async () => {
    const server = await start();
    const idle = await Promise.all([dial(server), dial(server), dial(server)]);
    for (const { answered } of idle.slice(0, 2)) expect(await answered(get)).not.toMatch(/connection: close/i);
    let closed = false;
    const closing = server.close(60_000, { keepIdle: true }).then(() => {
      closed = true;
    });
    await sleep(300);
    await expect(dial(server)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    expect([closed, ...idle.map(({ state }) => state.closed)]).toEqual([false, false, false, false]);
    expect(await idle[0]!.answered(post)).toMatch(/connection: close/i);
    expect(await idle[1]!.answered(get)).toMatch(/connection: close/i);
    await expect.poll(() => idle.map(({ state }) => state.closed)).toEqual([true, true, false]);
    expect(closed).toBe(false);
    // A connection without a request.
    expect(await idle[2]!.answered(get)).toMatch(/connection: close/i);
    const begun = performance.now();
    await closing;
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test('a connection that stays idle delays the end until the deadline at most', async () => {
    const server = await start();
    const { state, answered } = await dial(server);
    await answered(get);
    const begun = performance.now();
    await server.close(500, { keepIdle: true });
    expect(performance.now() - begun).toBeLessThan(5_000);
    await expect.poll(() => state.closed).toBe(true);
  });

  // 2 ms per request: the process is busy, so connections wait to be accepted.
  test.runIf(process.platform === 'linux')(
    'no request is lost when the port closes: each is answered, or its connection was refused',
    async () => {
      let served = 0;
      const fetch = () => {
        served += 1;
        for (const end = performance.now() + 2; performance.now() < end; );
        return new FastResponse('hello');
      };
      const server = await serve({ fetch });
      servers.push(server);
      const clients = 32;
      const file = new URL('./dial-until-refused.ts', import.meta.url);
      const dialling = once(new Worker(file, { workerData: { port: server.port, clients } }), 'message');
      await expect.poll(() => served, { timeout: 30_000 }).toBeGreaterThan(2 * clients);
      await server.close(10_000, { keepIdle: true });
      const [{ answered, refused, lost }] = await dialling;
      expect(lost).toEqual([]);
      expect(refused).toBe(clients);
      expect(answered).toBe(served);
    },
  );
});
