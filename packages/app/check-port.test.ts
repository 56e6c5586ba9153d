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
  const clients = `
    const { connect } = require('node:net');
    const { parentPort } = require('node:worker_threads');
    let connected = 0, tried = 0, ending = false;
    const dial = () => {
      const socket = connect(${port}, '127.0.0.1');
      socket.once('connect', () => { if (socket.localPort !== ${port}) connected += 1; socket.destroy(); });
      socket.once('error', () => {}).once('close', () => { tried += 1; if (!ending) dial(); });
    };
    for (let n = 0; n < 8; n += 1) dial();
    parentPort.once('message', () => { ending = true; setTimeout(() => { parentPort.postMessage({ connected, tried }); parentPort.close(); }, 200); });
    parentPort.postMessage('dialling');`;
  const worker = new Worker(clients, { eval: true });
  await once(worker, 'message');
  for (let check = 0; check < 50; check += 1) await checkPort(on('127.0.0.1'), port, '--port');
  worker.postMessage('end');
  const [{ connected, tried }] = await once(worker, 'message');
  expect(tried).toBeGreaterThan(100);
  expect(connected).toBe(0);
});
