import type { PreparedAnswer } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { LRUCache } from 'lru-cache';
import { maxCachedAgeMs, maxCachedBytes } from '../limits.ts';

/** Its type fits every route: the loader knows which one it is for. */
type CachedAnswer = PreparedAnswer<never>;
/** `keep`: false for an answer that is made for every request. */
type Loaded = { answer: CachedAnswer; keep: boolean };

export type PageCache = {
  /** The answer under a key of a page. A cached one is returned without a promise. Concurrent requests load once. */
  get(pageKey: string, key: string, load: () => Promise<Loaded>): CachedAnswer | Promise<CachedAnswer>;
  /** Ends the cached answers of a page, in this process at once and in the others by an event. */
  changed(pageKey: string): Promise<void>;
  close(): Promise<void>;
};

/** The event of a changed page. Its message is the key of the page. */
export const changedTopic = 'content.decor';

/**
 * The pages that shoppers read, serialised, per process. An event ends them when a page changes. A lost event has no effect
 * after `maxCachedAgeMs`.
 */
export async function openPageCache({ events, log }: Pick<Runtime, 'events' | 'log'>): Promise<PageCache> {
  const answers = new LRUCache<string, CachedAnswer>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ bytes }, key) => bytes.byteLength + 2 * key.length + 300,
    ttl: maxCachedAgeMs,
    ttlResolution: 50,
  });
  const loading = new Map<string, Promise<CachedAnswer>>();
  const wholeKey = (pageKey: string, key: string) => `${pageKey}\n${key}`;

  const end = (pageKey: string) => {
    const prefix = wholeKey(pageKey, '');
    for (const key of [...answers.keys()]) if (key.startsWith(prefix)) answers.delete(key);
    // A load that runs may have read the page before the change. It answers its callers, and no later request.
    for (const key of [...loading.keys()]) if (key.startsWith(prefix)) loading.delete(key);
  };
  const endAll = () => {
    answers.clear();
    loading.clear();
  };
  const unsubscribe = await events.subscribe(changedTopic, end);
  events.onReconnect(endAll);

  const start = (key: string, load: () => Promise<Loaded>): Promise<CachedAnswer> => {
    const loaded: Promise<CachedAnswer> = load()
      .then(({ answer, keep }) => {
        if (keep && loading.get(key) === loaded) answers.set(key, answer);
        return answer;
      })
      .finally(() => {
        if (loading.get(key) === loaded) loading.delete(key);
      });
    loading.set(key, loaded);
    return loaded;
  };
  return {
    get(pageKey, key, load) {
      const whole = wholeKey(pageKey, key);
      return answers.get(whole) ?? loading.get(whole) ?? start(whole, load);
    },
    async changed(pageKey) {
      end(pageKey);
      await events.publish(changedTopic, pageKey).catch((error: unknown) => {
        log.warn(
          { err: error, page: pageKey },
          'other instances show the changed page when their cached one is too old',
        );
      });
    },
    async close() {
      await unsubscribe();
      endAll();
    },
  };
}
