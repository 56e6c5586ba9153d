import { createClient, createCluster } from '@redis/client';
import type { LimiterLog } from '../limiter-log.ts';
import { type Destroyable, destroy } from './destroy.ts';

export type Client = ReturnType<typeof createClient>;
export type Cluster = ReturnType<typeof createCluster>;

const clusterMode = /^cluster_enabled:1/m;
const connectTimeout = 3_000;
/** The pause between attempts to reconnect. It grows up to one second. */
const reconnectMs = (retries: number) => Math.min(50 * 2 ** Math.min(retries, 6), 1_000);

const optionsOf = (url: string) => ({
  url,
  // Commands do not wait for a connection. Without one they fail immediately, and the check passes.
  disableOfflineQueue: true,
  socket: { connectTimeout, reconnectStrategy: reconnectMs },
});

/** Opens connections to Redis. A connection is in `opening` until it is open, so that `close` can end it. */
export class ClientOpener {
  readonly opening = new Set<Destroyable>();
  readonly #urls: readonly string[];
  readonly #log: LimiterLog;
  readonly #isReady: () => boolean;

  /** `isReady`: whether the first connection was made. Failures before that are logged by the caller. */
  constructor(urls: readonly string[], log: LimiterLog, isReady: () => boolean) {
    this.#urls = urls;
    this.#log = log;
    this.#isReady = isReady;
  }

  /** Opens a cluster when there are several addresses, or when the only address is a node of a cluster. */
  async open(): Promise<{ client: Client | null; cluster: Cluster | null }> {
    if (this.#urls.length > 1 || (await this.#isCluster(this.#urls[0]!)))
      return { client: null, cluster: await this.#openCluster() };
    return { client: await this.#openSingle(this.#urls[0]!), cluster: null };
  }

  async #openCluster(): Promise<Cluster> {
    const { url: _url, ...defaults } = optionsOf('');
    const rootNodes = this.#urls.map((url) => ({ url }));
    // Each node is connected when it is needed. A node that is down does not block the others.
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

  /** Whether this server is a node of a cluster. False when the server does not answer INFO. */
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
