import type { Runtime } from '@tradepost/runtime';
import { serve } from '../transports/serve.ts';
import type { Transport } from '../transports/transport.ts';
import { type AdminRuntime, adminFetch } from './admin-fetch.ts';

/** Used when no port is configured. Another process of this machine may have it: then any free port is taken. */
const usualPort = 8082;
const maxBodyBytes = 1024;

/** Opens the admin listener of this process. Null when `ADMIN_PORT` is `off`. Throws when a configured port is in use. */
export async function openAdmin(
  runtime: AdminRuntime & Pick<Runtime, 'config' | 'log'>,
  version: string,
): Promise<Transport | null> {
  const { adminPort, adminHost: host } = runtime.config;
  if (adminPort === 'off') return null;
  const app = { fetch: adminFetch(runtime, version) };
  const listen = (port: number) => serve(app, { host, port, transport: 'node', maxBodyBytes }, runtime.log);
  if (adminPort !== undefined) return listen(adminPort);
  return listen(usualPort).catch((error: Error) => {
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE') throw error;
    return listen(0);
  });
}
