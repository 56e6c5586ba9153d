import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceErrors } from '@tradepost/core';
import type { Runtime } from '@tradepost/runtime';

type Deps = Pick<Runtime, 'store' | 'log' | 'now'>;

/** At most `max` of `kind` for one `of` in a window; 0 is no limit, and counts nothing. */
export type Limit = { kind: string; of: string; windowMs: number; max: number };

/** One count that an attempt has taken; it ends with one of these calls. */
export type Count = {
  /** The attempt stays counted. */
  keep(): Promise<void>;
  release(): Promise<void>;
  /** Sets the counter back to zero. */
  clear(): Promise<void>;
};
export type Reservations = {
  /** Counts an attempt at each of these limits, in their order, or at none: then answers the seconds until the window ends. */
  reserve(limits: readonly Limit[]): Promise<{ counts: Count[] } | { seconds: number }>;
};

/** Names and phones do not become keys that a look into the store shows. */
export const hashed = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** A store that is down must not close the shop: what it would have counted is let through. */
export function unlessDown<T>(log: Deps['log'], asked: Promise<T>, otherwise: T): Promise<T> {
  return asked.catch((error: unknown) => {
    log.warn({ err: error }, 'the store does not answer: attempts are not limited');
    return otherwise;
  });
}

const uncounted: Count = { async keep() {}, async release() {}, async clear() {} };

/** Attempts of this process that wait for others to end. */
const maxWaiting = 500;
/** How long one waits; after that the others count as failed: their process may be gone. */
const waitMs = 2_000;

/**
 * Counts attempts before they are made: one atomic increment, compared with the limit. A second counter has those that
 * were kept. Where the limit is reached only because of attempts under way, on any instance, the next one waits for them:
 * they may give their counts back. Windows begin at multiples of their length, so the time to wait is known without
 * asking; a count that nobody gives back ends with its window.
 */
export function openReservations(deps: Deps): Reservations {
  const { store, log } = deps;
  let waiting = 0;
  const orDown = <T>(asked: Promise<T>) => unlessDown<T | null>(log, asked, null);

  /** Whether the limit is reached by counts that stay. */
  async function isUsedUp(keptKey: string, max: number): Promise<boolean> {
    return Number(await orDown(store.get(keptKey))) >= max;
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
      const value = await orDown(store.increment(key, leftMs));
      if (value === null) return uncounted;
      if (value <= max) break;
      await orDown(store.decrement(key));
      if (performance.now() >= until || (await isUsedUp(keptKey, max))) return { seconds: Math.ceil(leftMs / 1000) };
      await waitBefore(retry);
    }
    return {
      keep: async () => void (await orDown(store.increment(keptKey, leftMs))),
      release: async () => void (await orDown(store.decrement(key))),
      clear: async () => void (await Promise.all([orDown(store.delete(key)), orDown(store.delete(keptKey))])),
    };
  }

  return {
    async reserve(limits) {
      const counts: Count[] = [];
      const release = () => Promise.all(counts.map((taken) => taken.release()));
      for (const limit of limits) {
        const taken = await count(limit).catch(async (error: unknown) => {
          await release();
          throw error;
        });
        if ('seconds' in taken) {
          await release();
          return taken;
        }
        counts.push(taken);
      }
      return { counts };
    },
  };
}
