import { createClient, createCluster } from '@redis/client';
import type { LimiterLog } from '../limiter-log.ts';

export type Client = ReturnType<typeof createClient>;
export type Cluster = ReturnType<typeof createCluster>;
type Destroyable = { destroy(): unknown };

const clusterMode = /^cluster_enabled:1/m;
const connectTimeout = 3_000;
/** Between attempts to connect for the first time, and again. */
const reconnectMs = (retries: number) => Math.min(50 * 2 ** Math.min(retries, 6), 1_000);

const optionsOf = (url: string) => ({
  url,
  // Nothing waits for a connection: a check without one is answered at once.
  disableOfflineQueue: true,
  socket: { connectTimeout, reconnectStrategy: reconnectMs },
});

export function destroy(one: Destroyable | null): void {
  try {
    one?.destroy();
  } catch {
    // It was not open.
  }
}

/** Opens connections to Redis. A connection is in `opening` until it is open, so that it can be ended before. */
export class ClientOpener {
  readonly opening = new Set<Destroyable>();
  readonly #urls: readonly string[];
  readonly #log: LimiterLog;
  readonly #isReady: () => boolean;

  /** `isReady`: whether the first connection has been made; outages before it are not logged here. */
  constructor(urls: readonly string[], log: LimiterLog, isReady: () => boolean) {
    this.#urls = urls;
    this.#log = log;
    this.#isReady = isReady;
  }

  /** A cluster where there are several addresses, or where the only one is a node of a cluster. */
  async open(): Promise<{ client: Client | null; cluster: Cluster | null }> {
    if (this.#urls.length > 1 || (await this.#isCluster(this.#urls[0]!)))
      return { client: null, cluster: await this.#openCluster() };
    return { client: await this.#openSingle(this.#urls[0]!), cluster: null };
  }

  async #openCluster(): Promise<Cluster> {
    const { url: _url, ...defaults } = optionsOf('');
    const rootNodes = this.#urls.map((url) => ({ url }));
    // Nodes are connected to when they are needed: one that is down does not keep the others from being used.
    const opened = createCluster({ rootNodes, defaults, minimizeConnections: true });
    this.#watch(opened as never);
    this.opening.add(opened);
    await opened.connect();
    this.opening.delete(opened);
    return opened as unknown as Cluster;
  }

  async #openSingle(url: string): Promise<Client> {
    const opened = createClient(optionsOf(url));
    this.#watch(opened as never);
    this.opening.add(opened);
    await opened.connect();
    this.opening.delete(opened);
    return opened as unknown as Client;
  }

  /** Whether this is a node of a cluster; false where the server does not say. */
  async #isCluster(url: string): Promise<boolean> {
    const opened = createClient({ ...optionsOf(url), socket: { connectTimeout, reconnectStrategy: false } });
    opened.on('error', () => {});
    this.opening.add(opened);
    try {
      await opened.connect();
      return clusterMode.test(await opened.info('cluster').catch(() => ''));
    } finally {
      this.opening.delete(opened);
      destroy(opened);
    }
  }

  #watch(of: { on(event: string, listener: (error: Error) => void): unknown }): void {
    const log = this.#log;
    let down = false;
    of.on('error', (error) => {
      if (!down && this.#isReady())
        log.warn({ err: error }, 'limiter: the connection to Redis is lost, requests pass unchecked');
      down = true;
    });
    of.on('ready', () => {
      if (down && this.#isReady()) log.info('limiter: the connection to Redis is back');
      down = false;
    });
  }
}
