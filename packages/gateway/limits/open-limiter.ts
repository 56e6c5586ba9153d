import type { KeyRef, Limiter } from '@tradepost/rate-limiter';
import { LimiterStoreError, openEmbeddedLimiter, openRedisLimiter } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import { gatewayMetrics } from '../gateway-metrics.ts';
import { rateLimitSettings } from '../settings.ts';
import { answerQuestions, openRemoteLimiter } from './remote-limiter.ts';

/** Says that logs were forgotten, so that nobody goes on refusing because of them. */
const forgotten = 'gateway.limiter.forgotten';

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
  const listening = events.subscribe(forgotten, () => limiter.forgetRefusals());
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
      await events.publish(forgotten, '').catch((error: unknown) => {
        log.warn({ err: error }, 'limiter: other instances may refuse for up to a minute what was reset');
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

/** The limiter of a gateway process: on Redis where there is one, else in this process's memory. */
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
    // There may be other gateway processes, each with logs of its own: all are asked, this one among them.
    ...openRemoteLimiter(runtime),
    async close() {
      metrics.beforeRead.delete(flush);
      await stopAnswering();
      await limiter.close();
    },
  };
}

export type LimiterView = Pick<Limiter, 'inspect' | 'reset' | 'close'> & {
  /** Who is asked. */
  readonly store: 'redis' | 'processes';
};

/** What a process beside the gateway sees of it: the logs on Redis, or those of the gateway processes, which are asked. */
export function openLimiterView(runtime: Runtime): LimiterView {
  const urls = redisUrls(runtime.config);
  if (!urls) return { ...openRemoteLimiter(runtime), store: 'processes', close: async () => {} };
  let opened: Limiter | null = null;
  // Most processes are never asked.
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
