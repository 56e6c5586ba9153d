import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { freePorts } from '@tradepost/testing/processes/free-ports';
import { expect, test } from 'vitest';
import { checkPort } from './check-port.ts';

const on = (host: string) => ({ host, data: join(tmpdir(), 'without-an-instance') });

async function listenOn(port: number) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

test('a port that a program listens on is refused, also by another name of the same address', async () => {
  const port = await freePorts();
  const close = await listenOn(port);
  for (const host of ['127.0.0.1', '0.0.0.0', '::'])
    await expect(checkPort(on(host), port, '--port'), host).rejects.toThrow(
      `Port ${port} of ${host} is in use: give another one with --port`,
    );
  await close();
  for (const host of ['127.0.0.1', '0.0.0.0', '::']) await checkPort(on(host), port, '--port');
});

test('an address of another machine is refused with the option that sets it; any free port is accepted', async () => {
  await expect(checkPort(on('192.0.2.1'), 0, '--port')).rejects.toThrow('--host must be an address of this machine');
  await expect(checkPort(on('192.0.2.1'), 0, '--admin-port')).rejects.toThrow('ADMIN_HOST must be an address');
  await checkPort(on('127.0.0.1'), 0, '--port');
});

test('a port that another program uses for UDP is free', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  await checkPort(on('127.0.0.1'), socket.address().port, '--port');
  socket.close();
});

// In a rolling restart the proxy tries the port of the process that starts. A request on a connection that closes at once is lost.
test('clients that try the port all along are never connected by the check', async () => {
  const port = await freePorts();
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const clients = `
    const { connect } = require('node:net');
    const { workerData: { counts, port } } = require('node:worker_threads');
    const dial = () => {
      const socket = connect(port, '127.0.0.1');
      // The kernel may have chosen the port itself for this end: then the socket is connected to itself.
      socket.once('connect', () => { if (socket.localPort !== port) Atomics.add(counts, 1, 1); socket.destroy(); });
      socket.once('error', () => {}).once('close', () => { Atomics.add(counts, 0, 1); dial(); });
    };
    for (let n = 0; n < 8; n += 1) dial();`;
  const worker = new Worker(clients, { eval: true, workerData: { counts, port } });
  const tried = () => Atomics.load(counts, 0);
  for (let check = 0; check < 50 || tried() < 500; check += 1) await checkPort(on('127.0.0.1'), port, '--port');
  await worker.terminate();
  expect(Atomics.load(counts, 1)).toBe(0);
});
