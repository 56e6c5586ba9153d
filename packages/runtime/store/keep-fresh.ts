import { setTimeout as sleep } from 'node:timers/promises';
import { serviceErrors } from '@tradepost/core';
import type { Log } from '../observability/log.ts';

/** How often what is remembered is read again. */
const readEveryMs = 2_000;
/** What is remembered may be used for so long after the start of its last reading. */
export const staleAfterMs = 5_000;
/** What a reading may take; whoever waits for a longer one is refused. */
const readWithinMs = 3_000;

export type Fresh = {
  /** Whether the last reading began no longer than `staleAfterMs` ago. No query: for hot paths. */
  isFresh(): boolean;
  /** Resolves when it is fresh. Rejects with 503 when the database does not answer in time. */
  renew(): Promise<void>;
  close(): void;
};

/**
 * Keeps what a process remembers of the database no older than a bound, whatever becomes of messages: they may get lost, the
 * connection that brings them may break, and the process itself may be paused. `read` brings the memory up to date; it runs now,
 * every 2 s, and before an answer that would else rest on something older. Rejects when the first reading fails.
 */
export async function keepFresh(deps: { read: () => Promise<void>; what: string; log: Log }): Promise<Fresh> {
  const { read, what, log } = deps;
  // Two clocks: one of them stands still while a machine sleeps, the other can be set.
  const clocks = () => [performance.now(), Date.now()] as const;
  let readAt = clocks();
  let reading: Promise<void> | null = null;
  let failing = false;

  const readOnce = (): Promise<void> => {
    const began = clocks();
    reading ??= read()
      .then(() => {
        readAt = began;
        if (failing) log.info({ what }, 'is read again');
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
      if (!failing)
        log.warn({ err: error, what }, 'could not be read again: nothing is answered from what is remembered');
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
        // A reading that began before a pause is no news: then another one follows.
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
