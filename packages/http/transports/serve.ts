import type { Config, Log } from '@tradepost/runtime';
import type { App } from '../routing/app.ts';
import { transportFault } from '../routing/envelope.ts';
import type { Transport, TransportOptions } from './transport.ts';
import { loadUws } from './uws/binary.ts';

// Each is loaded when it serves: a command loads neither of them, and a server only one.
const serveNode = async (options: TransportOptions) => (await import('./node/node-transport.ts')).serveNode(options);
const serveUws = async (options: TransportOptions) => (await import('./uws/uws-transport.ts')).serveUws(options);

/**
 * Serves the application on uWebSockets.js. Serves on node:http where its binary does not load, or cuts header values.
 */
export async function serve(
  app: Pick<App, 'fetch'> & Partial<Pick<App, 'bodyLimitOf' | 'streamLimitOf' | 'sockets'>>,
  config: Pick<Config, 'host' | 'port' | 'transport' | 'maxBodyBytes'> &
    Partial<Pick<Config, 'maxUploadBytes'>> &
    Pick<TransportOptions, 'maxBufferedBytes'>,
  log: Log,
  /** Builds the answer to a request that does not reach the application: its body is too large, or it is not HTTP. */
  faultResponse: TransportOptions['faultResponse'] = transportFault,
): Promise<Transport> {
  const { streamLimitOf } = app;
  const { maxUploadBytes = Number.POSITIVE_INFINITY } = config;
  const options: TransportOptions = {
    fetch: app.fetch,
    hostname: config.host,
    port: config.port,
    maxBodyBytes: config.maxBodyBytes,
    bodyLimitOf: app.bodyLimitOf,
    streamLimitOf: streamLimitOf && ((method, path) => Math.min(maxUploadBytes, streamLimitOf(method, path))),
    sockets: app.sockets,
    // Room for at least two of the largest bodies.
    ...(config.maxBufferedBytes && { maxBufferedBytes: Math.max(config.maxBufferedBytes, 2 * config.maxBodyBytes) }),
    faultResponse,
  };
  if (config.transport === 'node') return serveNode(options);
  const binary = await loadUws().catch((error: unknown) => {
    if (config.transport === 'uws') throw error;
    log.warn({ err: error }, 'uWebSockets.js does not load on this platform: serving on node:http');
    return null;
  });
  if (binary === null) return serveNode(options);
  if (binary.keepsHeaderBytes) return serveUws(options);
  const reason = 'this binary of uWebSockets.js cuts bytes outside ASCII off header values';
  if (config.transport === 'uws') {
    log.warn(`${reason}: two Idempotency-Keys with such bytes can become one`);
    return serveUws(options);
  }
  log.warn(`${reason}: serving on node:http`);
  return serveNode(options);
}
