import { setTimeout as sleep } from 'node:timers/promises';
import slotOf from 'cluster-key-slot';
import type { LimiterLog } from '../limiter-log.ts';
import { destroy } from './destroy.ts';
import type { Script } from './limiter-script.ts';
import type { Client, ClientOpener, Cluster } from './open-clients.ts';

export type LimiterConnection = {
  /** Null until the first connection is open. */
  readonly mode: 'single' | 'cluster' | null;
  /** Runs a script on the node of its first key. Rejects immediately while there is no connection. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<number[]>;
  /** The address of the node that stores a key. Empty on a single server. */
  nodeOf(key: string): string;
  /** All keys with this prefix, in pages, on all nodes. */
  scan(prefix: string): AsyncIterable<string[]>;
  unlink(keys: readonly string[]): Promise<number>;
  /** Resolves with the first connection, or after two seconds without one. */
  ready(): Promise<void>;
  close(): Promise<void>;
};

/** The longest wait for the first connection at start. */
const readyMs = 2_000;
const notConnected = () => new Error('not connected to Redis');
const isNoScript = (error: unknown) => String((error as Error | null)?.message).startsWith('NOSCRIPT');

/** Waits for `first`, at most for `ms`. The timer also keeps the process alive, which may have no other work yet. */
async function firstWithin(first: Promise<void>, ms: number): Promise<void> {
  const late = new AbortController();
  await Promise.race([first, sleep(ms, undefined, { signal: late.signal }).catch(() => {})]);
  late.abort();
}

/**
 * The limiter's connection to Redis, Valkey or a cluster of either. Without a connection requests pass unchecked, so a
 * gateway can start while its store is down. A single address that is a node of a cluster is used as a cluster.
 */
export function openLimiterConnection(urls: readonly string[], log: LimiterLog): LimiterConnection {
  let client: Client | null = null;
  let cluster: Cluster | null = null;
  let ready = false;
  let closed = false;
  let retry: NodeJS.Timeout | null = null;
  let opener: ClientOpener | null = null;

  // Loaded here: a process without Redis does not load the client.
  const loading = import('./open-clients.ts');
  let warned = false;
  let connected = () => {};
  const firstConnection = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const connect = async (): Promise<void> => {
    try {
      const { ClientOpener } = await loading;
      if (closed) return;
      opener ??= new ClientOpener(urls, log, () => ready);
      ({ client, cluster } = await opener.open());
      ready = true;
      connected();
      if (warned) log.info('limiter: connected to Redis');
    } catch (error) {
      if (closed) return;
      if (!warned) log.warn({ err: error }, 'limiter: Redis does not answer, requests pass unchecked until it does');
      warned = true;
      retry = setTimeout(() => void connect(), 500).unref();
    }
    if (closed) end();
  };
  const end = () => {
    for (const connection of [client, cluster, ...(opener?.opening ?? [])]) destroy(connection);
  };
  void connect();

  const evaluate = (name: string, script: string, keys: readonly string[], args: readonly string[]) => {
    const command = [name, script, String(keys.length), ...keys, ...args];
    if (client) return client.sendCommand<number[]>(command);
    if (cluster) return cluster.sendCommand<number[]>(keys[0], false, command);
    return Promise.reject(notConnected());
  };

  return {
    get mode() {
      return client ? 'single' : cluster ? 'cluster' : null;
    },
    run(script, keys, args) {
      return evaluate('EVALSHA', script.sha, keys, args).catch((error: unknown) => {
        // A server that was restarted or flushed does not know the script. EVAL loads it for later calls.
        if (isNoScript(error)) return evaluate('EVAL', script.source, keys, args);
        throw error;
      });
    },
    nodeOf: (key) => (cluster ? (cluster.slots[slotOf(key)]?.master.address ?? '') : ''),
    async *scan(prefix) {
      if (!client && !cluster) throw notConnected();
      const nodes: Client[] = client
        ? [client]
        : await Promise.all((cluster?.masters ?? []).map(async (node) => (await cluster!.nodeClient(node)) as Client));
      for (const node of nodes) yield* node.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 });
    },
    async unlink(keys) {
      if (!client && !cluster) throw notConnected();
      if (client) return keys.length === 0 ? 0 : client.unlink([...keys]);
      const answers = await Promise.all(keys.map((key) => cluster!.unlink(key)));
      return answers.reduce((sum, count) => sum + count, 0);
    },
    async ready() {
      await loading;
      await firstWithin(firstConnection, readyMs);
    },
    async close() {
      closed = true;
      if (retry) clearTimeout(retry);
      end();
    },
  };
}
