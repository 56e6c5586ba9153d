import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Source address of the attacks. Ordinary load has another one, so limits per address apply only to the attacker. */
export const attackerAddress = process.platform === 'linux' ? '127.9.9.9' : '127.0.0.1';

/** Characters of an answer that are kept. */
const keptCharacters = 64 * 1024;

export type RawConnection = {
  readonly socket: Socket;
  /** The first 64 Ki characters that arrived, as Latin-1. */
  received(): string;
  /** Number of bytes that arrived. */
  bytes(): number;
  /** Whether the server has closed or reset the connection. */
  closed(): boolean;
  send(data: string | Uint8Array): void;
  /** True when `holds` came true or the connection closed within `limitMs`. */
  until(holds: (received: string) => boolean, limitMs: number): Promise<boolean>;
  untilClosed(limitMs: number): Promise<boolean>;
  destroy(): void;
};

/** Opens a TCP connection without an HTTP client. With `reads: false` it never reads. */
export async function dial(
  port: number,
  options: { from?: string; reads?: boolean; limitMs?: number } = {},
): Promise<RawConnection> {
  const { from = attackerAddress, reads = true, limitMs = 5_000 } = options;
  const socket = connect({ host: '127.0.0.1', port, localAddress: from });
  let text = '';
  let bytes = 0;
  let closed = false;
  let changed = Promise.withResolvers<void>();
  const wake = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
    wake();
  });
  if (reads)
    socket.on('data', (data: Buffer) => {
      bytes += data.length;
      if (text.length < keptCharacters) text += data.toString('latin1').slice(0, keptCharacters - text.length);
      wake();
    });
  const until = async (holds: () => boolean, forMs: number): Promise<boolean> => {
    const end = performance.now() + forMs;
    while (!holds()) {
      const left = end - performance.now();
      if (left <= 0) return false;
      const timer = new AbortController();
      await Promise.race([changed.promise, sleep(left, undefined, { signal: timer.signal }).catch(() => {})]);
      timer.abort();
    }
    return true;
  };
  socket.once('connect', wake);
  if (!(await until(() => closed || !socket.connecting, limitMs)) || closed) {
    socket.destroy();
    throw new Error(`no connection to port ${port} within ${limitMs} ms`);
  }
  return {
    socket,
    received: () => text,
    bytes: () => bytes,
    closed: () => closed,
    send: (data) => void (socket.destroyed || socket.write(data)),
    until: (holds, forMs) => until(() => closed || holds(text), forMs),
    untilClosed: (forMs) => until(() => closed, forMs),
    destroy: () => void socket.destroy(),
  };
}

/** Statuses of the answers on a connection, in order, without interim answers (100). */
export const statusesOf = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map((match) => Number(match[1])).filter((status) => status >= 200);

/** Runs `work` for all items, `atOnce` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      await work(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

export const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
