import { setTimeout as sleep } from 'node:timers/promises';
import { serviceErrors } from '@tradepost/core';
import type { Log } from '../observability/log.ts';

/** The interval of reads. */
const readEveryMs = 2_000;
/** Data may be used until this long after the start of its last read. */
export const staleAfterMs = 5_000;
/** How long a caller waits for a read before it is refused. */
const readWithinMs = 3_000;

export type Fresh = {
  /** Whether the last read began at most `staleAfterMs` ago. It needs no query. */
  isFresh(): boolean;
  /** Resolves when the data is fresh. Rejects with 503 when the database does not answer in time. */
  renew(): Promise<void>;
  close(): void;
};

/**
 * Limits the age of database rows that a process has in memory. Notifications do not guarantee it: they can be lost,
 * their connection can break, and the process can be paused. `read` updates the rows. It runs now, every 2 s, and in
 * `renew` when the rows are too old. Rejects when the first read fails.
 */
export async function keepFresh(deps: { read: () => Promise<void>; what: string; log: Log }): Promise<Fresh> {
  const { read, what, log } = deps;
  // Two clocks: the first one stops while the machine sleeps, the second one can be changed.
  const clocks = () => [performance.now(), Date.now()] as const;
  let readAt = clocks();
  let reading: Promise<void> | null = null;
  let failing = false;

  const readOnce = (): Promise<void> => {
    const began = clocks();
    reading ??= read()
      .then(() => {
        readAt = began;
        if (failing) log.info({ what }, 'cached data is read again');
        failing = false;
      })
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  const isFresh = () => {
    const [ticks, wall] = clocks();
    return ticks - readAt[0] <= staleAfterMs && wall - readAt[1] <= staleAfterMs;
  };
  await readOnce();
  const timer = setInterval(() => {
    readOnce().catch((error: unknown) => {
      if (!failing) log.warn({ err: error, what }, 'cached data could not be read: requests that need it are refused');
      failing = true;
    });
  }, readEveryMs);
  timer.unref();

  return {
    isFresh,
    async renew() {
      const given = new AbortController();
      const over = sleep(readWithinMs, null, { ref: false, signal: given.signal }).catch(() => null);
      try {
        // A read that began before a pause does not make the data fresh. Then another read follows.
        while (!isFresh()) {
          const done = await Promise.race([readOnce().then(() => true), over]);
          if (done === null) throw new Error(`not read within ${readWithinMs} ms`);
        }
      } catch (error) {
        throw Object.assign(serviceErrors.busy(), { cause: error });
      } finally {
        given.abort();
      }
    },
    close: () => clearInterval(timer),
  };
}
