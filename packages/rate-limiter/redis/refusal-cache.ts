import { LRUCache } from 'lru-cache';
import { dimensions, type KeyKind, keyKinds, type Limits, type Refused, rpmOf, type Subject } from '../limits.ts';

export type LogKey = `${KeyKind}:${string}`;
export const logKey = (kind: KeyKind, key: string | number): LogKey => `${kind}:${key}`;

/** The largest number of cached refusals, of about 300 bytes each. */
const maxEntries = 50_000;

export type RefusalCache = {
  /** The refusal that the same request got, with what is left of its wait; null where the store has to be asked. */
  find(subject: Subject, limits: Limits, tokens: number): Refused | null;
  /** That a requests dimension of one of the keys is exhausted. */
  peek(subject: Subject, limits: Limits): Refused | null;
  /** `sentAt` and `receivedAt` are of the local monotonic clock, around the store's answer. */
  keep(subject: Subject, limits: Limits, tokens: number, refused: Refused, sentAt: number, receivedAt: number): void;
  /**
   * What is left of a key after a charge. Where it is full now for a request that was refused before, that request
   * may have to wait longer than it was told: it is asked for again.
   */
  charged(key: LogKey, requestsLeft: number, tokensLeft: number): void;
  clear(): void;
};

type Kept = {
  limits: Limits;
  refused: Refused;
  /** Until then the store would refuse it as well, whatever else happens. */
  until: number;
  /** When the wait has passed for whoever is told so. */
  passes: number;
  watches: readonly Watch[];
  epochs: readonly number[];
};
/** A key that stands in kept refusals: how often it was found full, and the most tokens that were asked of it. */
type Watch = { epoch: number; tokens: number };

const sameLimits = (a: Limits, b: Limits) => a === b || dimensions.every((dimension) => a[dimension] === b[dimension]);

const left = (passes: number, at: number) => Math.max(1, Math.ceil(passes - at));
const requestKey = (subject: Subject, tokens: number) =>
  `${subject.user} ${subject.token} ${subject.ip} ${tokens} ${subject.model}`;

/** The watches of a subject's keys, made where there are none yet, for a request of so many tokens. */
function watchesOf(watched: LRUCache<LogKey, Watch>, subject: Subject, tokens: number): Watch[] {
  const watches: Watch[] = [];
  for (const kind of keyKinds) {
    const key = subject[kind];
    if (key === null) continue;
    const name = logKey(kind, key);
    let watch = watched.peek(name);
    if (!watch) {
      watch = { epoch: 0, tokens: 0 };
      watched.set(name, watch);
    }
    watch.tokens = Math.max(watch.tokens, tokens);
    watches.push(watch);
  }
  return watches;
}

/**
 * Answers repeated refusals without asking the store, until the moment the request could first be admitted and not a
 * millisecond longer: a log only loses what the store has counted in by then. The moment is reckoned from when the
 * question was sent, the remaining wait from when the answer was here, so that the journey errs towards asking again and
 * towards waiting.
 */
export function openRefusalCache(
  options: {
    now?: () => number;
    /** The longest that a refusal is answered from here. */
    longestMs?: () => number;
  } = {},
): RefusalCache {
  const { now = () => performance.now(), longestMs = () => Number.POSITIVE_INFINITY } = options;
  const kept = new LRUCache<string, Kept>({ max: maxEntries });
  const watched = new LRUCache<LogKey, Watch>({ max: maxEntries });
  const blocked = new LRUCache<LogKey, { limit: number; until: number; passes: number }>({ max: maxEntries });

  return {
    find(subject, limits, tokens) {
      const key = requestKey(subject, tokens);
      const entry = kept.peek(key);
      if (!entry) return null;
      const at = now();
      const fresh =
        at < entry.until &&
        sameLimits(entry.limits, limits) &&
        entry.watches.every((watch, i) => watch.epoch === entry.epochs[i]);
      if (fresh) return { ...entry.refused, waitMs: left(entry.passes, at) };
      kept.delete(key);
      return null;
    },
    peek(subject, limits) {
      if (blocked.size === 0) return null;
      const at = now();
      for (const kind of keyKinds) {
        const key = subject[kind];
        const block = key === null ? undefined : blocked.peek(logKey(kind, key));
        if (!block) continue;
        const dimension = rpmOf[kind];
        if (block.until > at && block.limit === limits[dimension]) {
          const waitMs = left(block.passes, at);
          return { admitted: false, dimension, limit: block.limit, waitMs, denied: [dimension], at: 0 };
        }
      }
      return null;
    },
    keep(subject, limits, tokens, refused, sentAt, receivedAt) {
      // What never fits costs no round trip to find out.
      if (refused.waitMs === null) return;
      const watches = watchesOf(watched, subject, tokens);
      const entry: Kept = {
        limits,
        refused,
        // Less the fraction of a millisecond by which the store's clock had passed the whole one it reckons from.
        until: sentAt + Math.min(refused.waitMs - 1, longestMs()),
        passes: receivedAt + refused.waitMs,
        watches,
        epochs: watches.map(({ epoch }) => epoch),
      };
      kept.set(requestKey(subject, tokens), entry);
      for (const kind of keyKinds) {
        const key = subject[kind];
        if (key === null || rpmOf[kind] !== refused.dimension) continue;
        blocked.set(logKey(kind, key), { limit: refused.limit, until: entry.until, passes: entry.passes });
      }
    },
    charged(key, requestsLeft, tokensLeft) {
      const watch = watched.peek(key);
      if (watch && (requestsLeft < 1 || tokensLeft < watch.tokens)) watch.epoch += 1;
    },
    clear() {
      kept.clear();
      watched.clear();
      blocked.clear();
    },
  };
}
