import { LRUCache } from 'lru-cache';
import { dimensions, type KeyKind, keyKinds, type Limits, type Refused, rpmOf, type Subject } from '../limits.ts';

export type LogKey = `${KeyKind}:${string}`;
export const logKey = (kind: KeyKind, key: string | number): LogKey => `${kind}:${key}`;

/** The largest number of cached refusals, of about 300 bytes each. */
const maxEntries = 50_000;

export type RefusalCache = {
  /** The refusal that the same request got before, with the rest of its wait. Null when the store must decide. */
  find(subject: Subject, limits: Limits, tokens: number): Refused | null;
  /** A refusal when the requests dimension of a key is known to be exhausted. */
  peek(subject: Subject, limits: Limits): Refused | null;
  /** Caches a refusal. `sentAt` and `receivedAt` are the local monotonic times of the call and of its answer. */
  keep(subject: Subject, limits: Limits, tokens: number, refused: Refused, sentAt: number, receivedAt: number): void;
  /**
   * Reports the remaining amounts of a key after a charge. When too little remains for a cached request, its wait may have
   * become longer, so the store must decide again.
   */
  charged(key: LogKey, requestsLeft: number, tokensLeft: number): void;
  clear(): void;
};

type CachedRefusal = {
  limits: Limits;
  refused: Refused;
  /** Before this time the store would refuse the request too, whatever else happens. */
  validUntil: number;
  /** The end of the wait that the client was given. */
  waitEndsAt: number;
  watches: readonly Watch[];
  epochs: readonly number[];
};
/** A key of cached refusals. `epoch` rises when the key is found full. `tokens` is the largest cost of a cached request. */
type Watch = { epoch: number; tokens: number };

const sameLimits = (a: Limits, b: Limits) => a === b || dimensions.every((dimension) => a[dimension] === b[dimension]);

const remainingMs = (waitEndsAt: number, now: number) => Math.max(1, Math.ceil(waitEndsAt - now));
const requestKey = (subject: Subject, tokens: number) =>
  `${subject.user} ${subject.token} ${subject.ip} ${tokens} ${subject.model}`;

/** The watches of keys. A removed watch ends the refusals that depend on it, because `charged` no longer finds it. */
const openWatches = (max: number) =>
  new LRUCache<LogKey, Watch>({
    max,
    dispose: (watch) => {
      watch.epoch += 1;
    },
  });

/** Unlike `clear` of the library, which takes 0.15 ms for an empty cache too, this takes time in proportion to its entries. */
function removeAll<K extends string>(cache: Pick<LRUCache<K, object>, 'keys' | 'delete'>): void {
  for (const key of [...cache.keys()]) cache.delete(key);
}

/** The watches of a subject's keys. Missing watches are made. */
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
 * Repeats refusals without a call of the store, until the moment at which the request could first be admitted. Until then a
 * log only loses entries that the store knew. That moment is calculated from the time when the call was sent, and the
 * remaining wait from the time when the answer arrived. So an error of measurement leads to one more call or to a longer
 * wait, never to a wrong refusal.
 */
export function openRefusalCache(
  options: {
    now?: () => number;
    maxEntries?: number;
    /** The longest time for which a refusal is cached. */
    longestMs?: () => number;
  } = {},
): RefusalCache {
  const { now = () => performance.now(), longestMs = () => Number.POSITIVE_INFINITY } = options;
  const max = options.maxEntries ?? maxEntries;
  const refusals = new LRUCache<string, CachedRefusal>({ max });
  const watched = openWatches(max);
  const blocked = new LRUCache<LogKey, { limit: number; validUntil: number; waitEndsAt: number }>({ max });

  return {
    find(subject, limits, tokens) {
      const key = requestKey(subject, tokens);
      const entry = refusals.peek(key);
      if (!entry) return null;
      const at = now();
      const fresh =
        at < entry.validUntil &&
        sameLimits(entry.limits, limits) &&
        entry.watches.every((watch, i) => watch.epoch === entry.epochs[i]);
      if (fresh) return { ...entry.refused, waitMs: remainingMs(entry.waitEndsAt, at) };
      refusals.delete(key);
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
        if (block.validUntil > at && block.limit === limits[dimension]) {
          const waitMs = remainingMs(block.waitEndsAt, at);
          return { admitted: false, dimension, limit: block.limit, waitMs, denied: [dimension], at: 0 };
        }
      }
      return null;
    },
    keep(subject, limits, tokens, refused, sentAt, receivedAt) {
      // A request that never fits is refused without a call anyway.
      if (refused.waitMs === null) return;
      const watches = watchesOf(watched, subject, tokens);
      const entry: CachedRefusal = {
        limits,
        refused,
        // One millisecond less: the store reports whole milliseconds, and its clock may be a fraction of one further.
        validUntil: sentAt + Math.min(refused.waitMs - 1, longestMs()),
        waitEndsAt: receivedAt + refused.waitMs,
        watches,
        epochs: watches.map(({ epoch }) => epoch),
      };
      refusals.set(requestKey(subject, tokens), entry);
      for (const kind of keyKinds) {
        const key = subject[kind];
        if (key === null || rpmOf[kind] !== refused.dimension) continue;
        blocked.set(logKey(kind, key), {
          limit: refused.limit,
          validUntil: entry.validUntil,
          waitEndsAt: entry.waitEndsAt,
        });
      }
    },
    charged(key, requestsLeft, tokensLeft) {
      const watch = watched.peek(key);
      if (watch && (requestsLeft < 1 || tokensLeft < watch.tokens)) watch.epoch += 1;
    },
    clear() {
      for (const cache of [refusals, watched, blocked]) removeAll(cache);
    },
  };
}
