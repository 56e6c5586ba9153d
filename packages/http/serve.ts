import type { Config, Log } from '@tradepost/runtime';
import { type App, transportFault } from './app.ts';
import { serveNode } from './node-transport.ts';
import type { Transport, TransportOptions } from './transport.ts';
import { serveUws } from './uws-transport.ts';

/** Serves the application on uWebSockets.js, or on node:http where its binary does not load. */
export async function serve(
  app: Pick<App, 'fetch'>,
  config: Pick<Config, 'host' | 'port' | 'transport' | 'maxBodyBytes'> & Pick<TransportOptions, 'maxBufferedBytes'>,
  log: Log,
  /** What is answered before a request reaches the application: too large a body, or no HTTP. */
  faultResponse: TransportOptions['faultResponse'] = transportFault,
): Promise<Transport> {
  const options: TransportOptions = {
    fetch: app.fetch,
    hostname: config.host,
    port: config.port,
    maxBodyBytes: config.maxBodyBytes,
    ...(config.maxBufferedBytes === undefined ? {} : { maxBufferedBytes: config.maxBufferedBytes }),
    faultResponse,
  };
  if (config.transport === 'node') return serveNode(options);
  try {
    return await serveUws(options);
  } catch (error) {
    if (config.transport === 'uws' || !(error as { binaryMissing?: boolean }).binaryMissing) throw error;
    log.warn({ err: error }, 'uWebSockets.js does not load on this platform: serving on node:http');
    return serveNode(options);
  }
}
