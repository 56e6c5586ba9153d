import { coalesce } from '@tradepost/core';
import type { LimiterLog } from '../limiter-log.ts';
import {
  type Admitted,
  type Dimension,
  type Limiter,
  windowMs as minute,
  rpmOf,
  type Tightest,
  tpmOf,
  type Verdict,
} from '../limits.ts';
import { type Exceeded, refusalOf, tighter } from '../verdict.ts';
import { type ClusterDeps, checkOnCluster } from './check-on-cluster.ts';
import { inspectLog, removeLogs } from './inspect-logs.ts';
import { openLimiterConnection } from './limiter-connection.ts';
import { limiterScripts, type ScriptClock } from './limiter-script.ts';
import { logKey, openRefusalCache, type RefusalCache } from './refusal-cache.ts';
import { type Check, checkInStore, countedOf, logNameOf, type Part } from './store-check.ts';
import { type Missed, openStoreGuard, type StoreGuard } from './store-guard.ts';

/** What the store says of a check, and when it was asked. */
type Asked = { readonly answer: readonly Part[] | Missed; readonly sentAt: number };

/** Checks that share a call: the store is busy with one for about a millisecond. */
const mostInCall = 64;
/** It works on one while the answers to the other are looked at here. */
const callsAtOnce = 2;
/** What a call gets before another one that is not full goes out beside it. */
const patienceMs = 1;

/** On a cluster a refusal may be owed to a charge that is taken back a moment later: it is soon asked for again. */
const longestOnClusterMs = 100;

export type StoreResult = 'ok' | Missed;
export type RedisLimiter = Limiter & {
  /** Forgets which requests were refused; after a log was removed by somebody else. */
  forgetRefusals(): void;
};

/** The guards of the store's nodes, by address: nodes of a cluster fail one by one, each has its own deadline and breaker. */
function openGuards(options: { deadlineMs: () => number }, log: LimiterLog): (node: string) => StoreGuard {
  const guards = new Map<string, StoreGuard>();
  let lastError = 0;
  return (node) => {
    let guard = guards.get(node);
    if (guard) return guard;
    guard = openStoreGuard({
      deadlineMs: options.deadlineMs,
      onMiss(why, error) {
        const now = performance.now();
        // One line a minute says it; the metric counts.
        if (lastError > 0 && now - lastError < 60_000) return;
        lastError = now;
        log.warn({ err: error, why, node }, 'limiter: the store did not answer, requests pass unchecked');
      },
      onRecovery: () => log.info({ node }, 'limiter: the store answers again'),
    });
    guards.set(node, guard);
    return guard;
  };
}

const unchecked = (why: Missed): Admitted => ({ admitted: true, tightest: null, unchecked: why, at: 0 });

/** The verdict on a request from the store's answers; tells the cache what is left of each log. */
function verdictOf(parts: readonly Part[], of: Check, windowMs: number, cache: RefusalCache): Verdict {
  const { subject, limits } = of;
  const at = parts[0]!.now;
  if (!parts[0]!.admitted) {
    const exceeded: Exceeded[] = [];
    for (const { key, a, b } of parts) {
      if (a !== -1) exceeded.push({ dimension: rpmOf[key.kind], waitMs: a });
      if (b !== -1) exceeded.push({ dimension: tpmOf[key.kind] as Dimension, waitMs: b });
    }
    return refusalOf(exceeded, limits, at);
  }
  let tightest: Tightest | null = null;
  for (const { key, now, oldest, a, b } of parts) {
    const { kind, rpm, tpm } = key;
    const resetMs = oldest + windowMs - now;
    if (rpm > 0) tightest = tighter(tightest, rpmOf[kind], rpm, rpm - a, resetMs);
    if (tpm > 0) tightest = tighter(tightest, tpmOf[kind] as Dimension, tpm, tpm - b, resetMs);
    cache.charged(logKey(kind, subject[kind]!), a, b);
  }
  return { admitted: true, tightest, at };
}

/** Checks on a single server: those that come together share a call. */
function shareCalls(deps: ClusterDeps, maxBatch: number) {
  return coalesce<Check, Asked>(
    async (checks) => {
      const sentAt = performance.now();
      const answers = await deps.guardOf('').call(() => checkInStore(deps, checks), checks[0]!.since);
      return checks.map((_, i) => ({ answer: typeof answers === 'string' ? answers : answers[i]!, sentAt }));
    },
    {
      maxBatch,
      maxInFlight: maxBatch === 1 ? Number.POSITIVE_INFINITY : callsAtOnce,
      patienceMs,
      maxQueue: Number.POSITIVE_INFINITY,
    },
  );
}

/**
 * The limiter of many processes on one Redis or Valkey. A check is one round trip: the script looks at all logs and
 * charges all or none, with the server's clock, and Redis runs one script at a time. Checks that come together,
 * or while two calls are under way, share one; the script takes them one after the other. On a cluster a user and its tokens share a
 * slot; address and model are checked beside them and charged back when one of the three refuses.
 */
export function openRedisLimiter(options: {
  urls: readonly string[];
  log: LimiterLog;
  deadlineMs: () => number;
  onStore?: (result: StoreResult) => void;
  onCacheHit?: () => void;
  prefix?: string;
  /** Checks that share a call at most; for comparison. */
  maxBatch?: number;
  /** For tests. */
  windowMs?: number;
  clock?: ScriptClock;
  now?: () => number;
}): RedisLimiter {
  const { log, prefix = 'tradepost:limit:', windowMs = minute, maxBatch = mostInCall } = options;
  const connection = openLimiterConnection(options.urls, log);
  const scripts = limiterScripts(options.clock);
  const cache = openRefusalCache({
    longestMs: () => (connection.mode === 'cluster' ? longestOnClusterMs : Number.POSITIVE_INFINITY),
  });
  const onStore = options.onStore ?? (() => {});
  const guardOf = openGuards(options, log);
  const clockArgs = options.clock === 'argument' ? () => [String(options.now!())] : () => [];
  const deps: ClusterDeps = {
    ...{ connection, script: scripts.check, takeBack: scripts.takeBack },
    ...{ windowMs, clockArgs, guardOf },
  };

  const single = shareCalls(deps, maxBatch);
  /** Each by itself: whose nodes are well does not wait for those of others. */
  const onCluster = async (check: Check): Promise<Asked> => {
    const sentAt = performance.now();
    return { answer: await checkOnCluster(deps, check), sentAt };
  };

  return {
    get kind() {
      return connection.mode === 'cluster' ? 'redis-cluster' : 'redis';
    },
    check(subject, limits, tokens) {
      const keys = countedOf(prefix, subject, limits);
      if (keys.length === 0) return { admitted: true, tightest: null, at: 0 };
      const never = keys.filter(({ tpm }) => tpm > 0 && tokens > tpm);
      if (never.length > 0) {
        const exceeded = never.map(({ kind }) => ({ dimension: tpmOf[kind] as Dimension, waitMs: null }));
        return refusalOf(exceeded, limits, 0);
      }
      const known = cache.find(subject, limits, tokens);
      if (known) {
        options.onCacheHit?.();
        return known;
      }
      if (connection.mode !== 'cluster' && guardOf('').isOpen()) {
        onStore('open');
        return unchecked('open');
      }
      const asking = { subject, limits, tokens, keys, since: performance.now() };
      return (connection.mode === 'cluster' ? onCluster(asking) : single(asking)).then(({ answer, sentAt }) => {
        if (typeof answer === 'string') {
          onStore(answer);
          return unchecked(answer);
        }
        onStore('ok');
        const verdict = verdictOf(answer, asking, windowMs, cache);
        if (!verdict.admitted) cache.keep(subject, limits, tokens, verdict, sentAt, performance.now());
        return verdict;
      });
    },
    peek: (subject, limits) => cache.peek(subject, limits),
    inspect: (of) => inspectLog({ ...deps, script: scripts.look }, logNameOf(prefix, of)),
    async reset(only) {
      cache.clear();
      return removeLogs(connection, prefix, only);
    },
    forgetRefusals: () => cache.clear(),
    ready: () => connection.ready(),
    close: () => connection.close(),
  };
}
