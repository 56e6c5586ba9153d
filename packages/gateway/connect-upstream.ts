import { buildConnector, Pool } from 'undici';
import { type Health, openHealth } from './upstream-health.ts';
import type { UpstreamConfig } from './upstream-settings.ts';

/** Requests of one process to one upstream at once; more wait for a connection. */
const connections = 1024;
const keepAliveMs = 30_000;

/** One upstream as it is in force: its connections and how it has been doing. */
export type Upstream = {
  readonly config: UpstreamConfig;
  readonly origin: string;
  /** Path of the base URL, without a slash at its end. */
  readonly prefix: string;
  /** Name, value, name, value: its key and extra headers. Secret. */
  readonly headers: readonly string[];
  readonly pool: Pool;
  readonly health: Health;
  /** A kept connection was found closed: nothing says that the upstream is not well. */
  wasStale(error: unknown): boolean;
};

const closedCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** `env:NAME` is read from the environment; undefined where it is not there. */
export function resolveKey(apiKey: string): string | undefined {
  return apiKey.startsWith('env:') ? process.env[apiKey.slice(4)] || undefined : apiKey;
}

export function connectUpstream(config: UpstreamConfig): Upstream {
  const { origin, pathname } = new URL(config.base_url);
  const connect = buildConnector({ timeout: config.connect_timeout_ms });
  const afterUse = new WeakSet<Error>();
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    // Ours stand above both: finer, and not running while a slow client holds the answer up.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) =>
      connect(options, (error, socket) => {
        if (error) return callback(error, null);
        const before = socket.bytesRead;
        socket.on('error', (fault) => {
          if (socket.bytesRead > before) afterUse.add(fault);
        });
        callback(null, socket);
      }),
  });
  const key = resolveKey(config.api_key) ?? '';
  const headers = ['user-agent', 'tradepost-gateway', 'accept-encoding', 'identity'];
  for (const [name, value] of Object.entries(config.headers)) headers.push(name.toLowerCase(), value);
  if (key !== '') headers.push('authorization', `Bearer ${key}`);
  return {
    config,
    origin,
    prefix: pathname.replace(/\/+$/, ''),
    headers,
    pool,
    health: openHealth(),
    wasStale: (error) => closedCodes.has(codeOf(error)) && afterUse.has(error as Error),
  };
}
