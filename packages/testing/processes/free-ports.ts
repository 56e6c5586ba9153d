import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Two free ports of which the second is one above the first. They are below those that the kernel gives to clients. */
export async function freePorts(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const servers = [port, port + 1].map((at) => createServer().listen(at, '127.0.0.1'));
    const opened = await Promise.allSettled(servers.map((server) => once(server, 'listening')));
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    if (opened.every(({ status }) => status === 'fulfilled')) return port;
  }
}
