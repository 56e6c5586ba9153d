import type { Store } from './store.ts';

type Entry = { value: string; expiresAt: number };

/**
 * The store of a single instance. Expired keys are deleted when they are read, and in a sweep. Above `maxEntries` the
 * oldest entries are deleted, so counters of many client addresses cannot fill the memory.
 */
export function openMemoryStore(options: { sweepMs?: number; maxEntries?: number } = {}): Store {
  const { maxEntries = 200_000 } = options;
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
  const put = (key: string, entry: Entry): void => {
    entries.set(key, entry);
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value!);
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
      put(key, { value: String(value), expiresAt: entry?.expiresAt ?? Date.now() + ttlMs });
      return value;
    },
    async decrement(key) {
      const entry = live(key);
      if (entry && Number(entry.value) > 0) entry.value = String(Number(entry.value) - 1);
    },
    async get(key) {
      return live(key)?.value ?? null;
    },
    async set(key, value, ttlMs) {
      put(key, { value, expiresAt: Date.now() + ttlMs });
    },
    async setIfAbsent(key, value, ttlMs) {
      if (live(key)) return false;
      put(key, { value, expiresAt: Date.now() + ttlMs });
      return true;
    },
    async delete(key) {
      entries.delete(key);
    },
    async publish(channel, message) {
      // Delivered in a later event-loop iteration, as by a network. A handler never runs inside `publish`.
      setImmediate(() => {
        if (!closed) for (const handle of handlers.get(channel) ?? []) handle(message);
      });
    },
    async subscribe(channel, handle) {
      const set = handlers.get(channel) ?? new Set();
      handlers.set(channel, set);
      // A function that is subscribed twice has two subscriptions, as on Redis.
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
