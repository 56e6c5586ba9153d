import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Config } from '@tradepost/runtime';

const connectMs = 2_000;

/** Binds a UDP socket: it fails for the same addresses and the same low ports as a listener, and no client can connect to it. */
async function bindError(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    socket.bind({ address: host, port, exclusive: true });
    await once(socket, 'listening');
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  } finally {
    socket.close();
  }
}

const addressesOf = (host: string): string[] =>
  host === '::' ? ['::1', '127.0.0.1'] : [host === '0.0.0.0' ? '127.0.0.1' : host];

/** Whether a program accepts connections there. */
async function answers(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectMs) });
    // The kernel may have chosen the port itself for this end: then the socket is connected to itself.
    return socket.localPort !== port;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Throws when the port cannot be bound. It runs before anything is opened or created. It does not listen: a proxy that tries the
 * port would send requests to a listener that closes at once.
 */
export async function checkPort(
  { host, data }: Pick<Config, 'host' | 'data'>,
  port: number,
  flag: string,
): Promise<void> {
  const code = (await bindError(host, port))?.code;
  // Another program may use the port for UDP.
  if (code === 'EACCES')
    throw new Error(
      `Cannot listen on ${host}:${port} (EACCES): this user may not use ports below 1024; give another one with ${flag}`,
    );
  if (code !== undefined && code !== 'EADDRINUSE') {
    const hostFlag = flag === '--admin-port' ? 'ADMIN_HOST' : '--host';
    throw new Error(`Cannot listen on ${host}:${port} (${code}): ${hostFlag} must be an address of this machine`);
  }
  if (port === 0) return;
  const inUse = (await Promise.all(addressesOf(host).map((address) => answers(address, port)))).includes(true);
  // The server on this port may use this data folder. The error of the instance lock then says more.
  if (inUse && !existsSync(join(data, 'instance.json')))
    throw new Error(`Port ${port} of ${host} is in use: give another one with ${flag}`);
}
