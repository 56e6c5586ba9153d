import type { KeyRef, Limiter } from '@tradepost/rate-limiter';
import { LimiterStoreError, openEmbeddedLimiter, openRedisLimiter } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import { gatewayMetrics } from '../gateway-metrics.ts';
import { rateLimitSettings } from '../settings.ts';
import { answerQuestions, openRemoteLimiter } from './remote-limiter.ts';

/** The channel that announces reset logs. Other instances then drop their cached refusals. */
const resetChannel = 'gateway.limiter.forgotten';

const redisUrls = ({ limiterRedisUrl, redisUrl }: Runtime['config']): string[] | null => {
  const urls = limiterRedisUrl ?? redisUrl;
  return urls ? urls.split(',').map((url) => url.trim()) : null;
};

function openShared(runtime: Runtime, urls: readonly string[]): Limiter {
  const { settings, metrics, log, events } = runtime;
  const { rateLimitStore } = gatewayMetrics(metrics);
  const results = new Map<string, number>();
  const count = (result: string) => results.set(result, (results.get(result) ?? 0) + 1);
  const flush = () => {
    for (const [result, times] of results) rateLimitStore.inc({ result }, times);
    results.clear();
  };
  metrics.beforeRead.add(flush);
  const limiter = openRedisLimiter({
    urls,
    log,
    deadlineMs: () => settings.get(rateLimitSettings.store_deadline_ms),
    onStore: count,
    onCacheHit: () => count('cached'),
  });
  const listening = events.subscribe(resetChannel, () => limiter.forgetRefusals());
  const refuse = (error: unknown): never => {
    throw error instanceof LimiterStoreError ? gatewayErrors.store_down({ reason: error.message }) : error;
  };
  return {
    ...limiter,
    get kind() {
      return limiter.kind;
    },
    inspect: (of) => limiter.inspect(of).catch(refuse),
    async reset(only?: KeyRef) {
      const dropped = await limiter.reset(only).catch(refuse);
      await events.publish(resetChannel, '').catch((error: unknown) => {
        log.warn({ err: error }, 'limiter: other instances may refuse for up to a minute after this reset');
      });
      return dropped;
    },
    async close() {
      metrics.beforeRead.delete(flush);
      await (await listening)();
      await limiter.close();
    },
  };
}

/** The limiter of a gateway process: on Redis when one is configured, else in the memory of this process. */
export async function openLimiter(runtime: Runtime): Promise<Limiter> {
  const { config, settings, metrics } = runtime;
  const urls = redisUrls(config);
  if (urls) {
    const limiter = openShared(runtime, urls);
    await limiter.ready();
    return limiter;
  }
  const limiter = openEmbeddedLimiter({ memoryMb: settings.get(rateLimitSettings.memory_mb) });
  const { rateLimitKeys, rateLimitEvicted } = gatewayMetrics(metrics);
  const flush = () => {
    rateLimitKeys.set(limiter.keys);
    rateLimitEvicted.set(limiter.evicted);
  };
  metrics.beforeRead.add(flush);
  const stopAnswering = await answerQuestions(runtime, limiter);
  return {
    ...limiter,
    // Each gateway process has its own logs. All processes answer, this one included.
    ...openRemoteLimiter(runtime),
    async close() {
      metrics.beforeRead.delete(flush);
      await stopAnswering();
      await limiter.close();
    },
  };
}

export type LimiterView = Pick<Limiter, 'inspect' | 'reset' | 'close'> & {
  /** `redis`: the logs are in Redis. `processes`: each gateway process has its own logs in memory. */
  readonly store: 'redis' | 'processes';
};

/** The limiter as a process without a gateway sees it: the logs on Redis, or the logs of the gateway processes. */
export function openLimiterView(runtime: Runtime): LimiterView {
  const urls = redisUrls(runtime.config);
  if (!urls) return { ...openRemoteLimiter(runtime), store: 'processes', close: async () => {} };
  let opened: Limiter | null = null;
  // Opened at first use, because most processes never need it.
  const limiter = async () => {
    opened ??= openShared(runtime, urls);
    await opened.ready();
    return opened;
  };
  return {
    store: 'redis',
    inspect: async (of) => (await limiter()).inspect(of),
    reset: async (only) => (await limiter()).reset(only),
    close: async () => opened?.close(),
  };
}
