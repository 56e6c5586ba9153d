import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceErrors } from '@tradepost/core';
import { openCountedWarning, type Runtime } from '@tradepost/runtime';

type Deps = Pick<Runtime, 'store' | 'log' | 'now'>;

/** At most `max` attempts of `kind` for one name `of` in a window. With `max` 0 there is no limit and nothing is counted. */
export type Limit = { kind: string; of: string; windowMs: number; max: number };

/** One counted attempt. The caller ends it with one of these calls. */
export type Count = {
  /** Keeps the attempt counted. */
  keep(): Promise<void>;
  /** Subtracts the attempt from the counter. */
  release(): Promise<void>;
  /** Resets the counter to zero. */
  clear(): Promise<void>;
};
export type Reservations = {
  /** Counts an attempt at all of these limits. When one is reached, nothing is counted: returns the seconds until its window ends. */
  reserve(limits: readonly Limit[]): Promise<{ counts: Count[] } | { seconds: number }>;
  /** Answers `otherwise` when the store does not answer this call. Attempts are then not limited, so log-ins work without the store. */
  unlessDown<T>(call: Promise<T>, otherwise: T): Promise<T>;
};

/** Hashes a name or phone for a key, so that the keys of the store show no personal data. */
export const hashed = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

const uncounted: Count = { async keep() {}, async release() {}, async clear() {} };

/** The largest number of attempts of this process that wait for other attempts. */
const maxWaiting = 500;
/** How long an attempt waits. After that the other attempts count as failed, because their process may have died. */
const waitMs = 2_000;

/**
 * Counts attempts before they are made: one atomic increment that is compared with the limit. A second counter has the kept
 * attempts. When the limit is reached only by attempts in progress, on any instance, the next attempt waits for them, because
 * they may be released. Windows begin at multiples of their length, so the time to wait is known without a call to the store.
 * A count that is never released ends with its window.
 */
export function openReservations(deps: Deps): Reservations {
  const { store, log } = deps;
  let waiting = 0;
  const warn = openCountedWarning(log, 'the store does not answer: attempts are not limited');
  const unlessDown: Reservations['unlessDown'] = (call, otherwise) =>
    call.catch((error: unknown) => {
      warn({ reason: error instanceof Error ? error.message : String(error) });
      return otherwise;
    });
  const orNull = <T>(call: Promise<T>) => unlessDown<T | null>(call, null);

  /** Whether the kept attempts alone reach the limit. */
  async function isUsedUp(keptKey: string, max: number): Promise<boolean> {
    return Number(await orNull(store.get(keptKey))) >= max;
  }

  async function waitBefore(retry: number): Promise<void> {
    if (waiting >= maxWaiting) throw serviceErrors.busy();
    waiting += 1;
    await sleep(Math.min(20 * 2 ** retry, 400));
    waiting -= 1;
  }

  async function count({ kind, of, windowMs, max }: Limit): Promise<Count | { seconds: number }> {
    if (max === 0) return uncounted;
    const at = deps.now().getTime();
    const window = Math.floor(at / windowMs);
    const leftMs = (window + 1) * windowMs - at;
    const key = `${kind}:${hashed(of)}:${window}`;
    const keptKey = `${key}:kept`;
    const until = performance.now() + waitMs;
    for (let retry = 0; ; retry += 1) {
      const value = await orNull(store.increment(key, leftMs));
      if (value === null) return uncounted;
      if (value <= max) break;
      await orNull(store.decrement(key));
      if (performance.now() >= until || (await isUsedUp(keptKey, max))) return { seconds: Math.ceil(leftMs / 1000) };
      await waitBefore(retry);
    }
    return {
      keep: async () => void (await orNull(store.increment(keptKey, leftMs))),
      release: async () => void (await orNull(store.decrement(key))),
      clear: async () => void (await Promise.all([orNull(store.delete(key)), orNull(store.delete(keptKey))])),
    };
  }

  return {
    unlessDown,
    async reserve(limits) {
      const counts: Count[] = [];
      const release = () => Promise.all(counts.map((each) => each.release()));
      for (const limit of limits) {
        const counted = await count(limit).catch(async (error: unknown) => {
          await release();
          throw error;
        });
        if ('seconds' in counted) {
          await release();
          return counted;
        }
        counts.push(counted);
      }
      return { counts };
    },
  };
}
