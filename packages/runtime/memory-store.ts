import type { Store } from './store.ts';

type Entry = { value: string; expiresAt: number };

/** The store of a single instance. Expired keys go when touched and in a sweep, so unused ones do not pile up. */
export function openMemoryStore(options: { sweepMs?: number } = {}): Store {
  const entries = new Map<string, Entry>();
  const handlers = new Map<string, Set<(message: string) => void>>();
  let closed = false;

  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry && entry.expiresAt <= Date.now()) {
      entries.delete(key);
      return undefined;
    }
    return entry;
  };
  const sweep = setInterval(() => {
    const now = Date.now();
    for (const [key, entry] of entries) if (entry.expiresAt <= now) entries.delete(key);
  }, options.sweepMs ?? 30_000);
  sweep.unref();

  return {
    kind: 'memory',
    async increment(key, ttlMs, by = 1) {
      const entry = live(key);
      const value = Number(entry?.value ?? 0) + by;
      entries.set(key, { value: String(value), expiresAt: entry?.expiresAt ?? Date.now() + ttlMs });
      return value;
    },
    async get(key) {
      return live(key)?.value ?? null;
    },
    async set(key, value, ttlMs) {
      entries.set(key, { value, expiresAt: Date.now() + ttlMs });
    },
    async setIfAbsent(key, value, ttlMs) {
      if (live(key)) return false;
      entries.set(key, { value, expiresAt: Date.now() + ttlMs });
      return true;
    },
    async delete(key) {
      entries.delete(key);
    },
    async publish(channel, message) {
      // Delivered in a later turn, as a network would: no handler runs inside its publisher.
      setImmediate(() => {
        if (!closed) for (const handle of handlers.get(channel) ?? []) handle(message);
      });
    },
    async subscribe(channel, handle) {
      const set = handlers.get(channel) ?? new Set();
      handlers.set(channel, set);
      // A function subscribed twice is two subscriptions, as on Redis.
      const listener = (message: string) => handle(message);
      set.add(listener);
      return async () => {
        set.delete(listener);
      };
    },
    async ping() {},
    async close() {
      closed = true;
      clearInterval(sweep);
      entries.clear();
      handlers.clear();
    },
  };
}
