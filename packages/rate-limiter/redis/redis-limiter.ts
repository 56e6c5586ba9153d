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
import { admissionOf, type Exceeded, refusalOf, tighter, unlimitedAdmission } from '../verdict.ts';
import { type ClusterDeps, checkOnCluster } from './check-on-cluster.ts';
import { inspectLog, removeLogs } from './inspect-logs.ts';
import { openLimiterConnection } from './limiter-connection.ts';
import { limiterScripts, type ScriptClock } from './limiter-script.ts';
import { logKey, openRefusalCache, type RefusalCache } from './refusal-cache.ts';
import { type Check, checkInStore, countedOf, logNameOf, type Part } from './store-check.ts';
import { type Missed, openStoreGuard, type StoreGuard } from './store-guard.ts';

/** The store's answer to a check, and the time of the call. */
type StoreAnswer = { readonly answer: readonly Part[] | Missed; readonly sentAt: number };

/** The largest number of checks in one call. Such a call keeps the store busy for about a millisecond. */
const defaultMaxBatch = 64;
/** The store works on one call while this process reads the answers of the other. */
const maxInFlight = 2;
/** While a call runs, a further call that is not full is sent after this time. */
const patienceMs = 1;

/** On a cluster a charge that is undone a moment later can cause a refusal, so a refusal is cached for a short time only. */
const cachedOnClusterMs = 100;

export type StoreResult = 'ok' | Missed;
export type RedisLimiter = Limiter & {
  /** Clears the cache of refusals. Needed after another process removed a log. */
  forgetRefusals(): void;
};

/** One guard per node, by address: nodes of a cluster fail one by one. */
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
        // At most one line per minute; `onStore` reports every check.
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

const unchecked = (why: Missed): Admitted => ({ ...unlimitedAdmission, unchecked: why });

/** Makes the verdict from the store's answers. Reports the remaining amounts of each log to the cache. */
function verdictOf(parts: readonly Part[], check: Check, windowMs: number, cache: RefusalCache): Verdict {
  const { subject, limits } = check;
  const at = parts[0]!.now;
  if (!parts[0]!.admitted) {
    const exceeded: Exceeded[] = [];
    for (const { key, requests, tokens } of parts) {
      if (requests !== -1) exceeded.push({ dimension: rpmOf[key.kind], waitMs: requests });
      if (tokens !== -1) exceeded.push({ dimension: tpmOf[key.kind] as Dimension, waitMs: tokens });
    }
    return refusalOf(exceeded, limits, at);
  }
  let tightestRequests: Tightest | null = null;
  let tightestTokens: Tightest | null = null;
  for (const { key, now, oldest, requests, tokens } of parts) {
    const { kind, rpm, tpm } = key;
    const resetMs = oldest + windowMs - now;
    if (rpm > 0) tightestRequests = tighter(tightestRequests, rpmOf[kind], rpm, rpm - requests, resetMs);
    if (tpm > 0) tightestTokens = tighter(tightestTokens, tpmOf[kind] as Dimension, tpm, tpm - tokens, resetMs);
    cache.charged(logKey(kind, subject[kind]!), requests, tokens);
  }
  return admissionOf(tightestRequests, tightestTokens, at);
}

/** Checks on a single server. Checks that arrive together share a call. */
function openSharedCalls(deps: ClusterDeps, maxBatch: number) {
  return coalesce<Check, StoreAnswer>(
    async (checks) => {
      const sentAt = performance.now();
      const answers = await deps.guardOf('').call(() => checkInStore(deps, checks), checks[0]!.since);
      return checks.map((_, i) => ({ answer: typeof answers === 'string' ? answers : answers[i]!, sentAt }));
    },
    {
      maxBatch,
      maxInFlight: maxBatch === 1 ? Number.POSITIVE_INFINITY : maxInFlight,
      patienceMs,
      maxQueue: Number.POSITIVE_INFINITY,
    },
  );
}

/**
 * The limiter of many processes on one Redis or Valkey. A check is one round trip. The script reads all logs of a request
 * and charges all or none, with the clock of the server. It is atomic, because Redis runs one script at a time. Checks that
 * arrive together, or while two calls run, share a call; the script decides them one after the other. On a cluster see
 * `checkOnCluster`.
 */
export function openRedisLimiter(options: {
  urls: readonly string[];
  log: LimiterLog;
  deadlineMs: () => number;
  onStore?: (result: StoreResult) => void;
  onCacheHit?: () => void;
  prefix?: string;
  /** The largest number of checks in one call; benchmarks compare values. */
  maxBatch?: number;
  /** For tests. */
  windowMs?: number;
  clock?: ScriptClock;
  now?: () => number;
}): RedisLimiter {
  const { log, prefix = 'tradepost:limit:', windowMs = minute, maxBatch = defaultMaxBatch } = options;
  const connection = openLimiterConnection(options.urls, log);
  const scripts = limiterScripts(options.clock);
  const cache = openRefusalCache({
    longestMs: () => (connection.mode === 'cluster' ? cachedOnClusterMs : Number.POSITIVE_INFINITY),
  });
  const onStore = options.onStore ?? (() => {});
  const guardOf = openGuards(options, log);
  const clockArgs = options.clock === 'argument' ? () => [String(options.now!())] : () => [];
  const deps: ClusterDeps = {
    ...{ connection, script: scripts.check, undoCharge: scripts.undoCharge },
    ...{ windowMs, clockArgs, guardOf },
  };

  const single = openSharedCalls(deps, maxBatch);
  /** On a cluster each check is a call of its own, so that it does not wait for nodes that other checks use. */
  const onCluster = async (check: Check): Promise<StoreAnswer> => {
    const sentAt = performance.now();
    return { answer: await checkOnCluster(deps, check), sentAt };
  };

  return {
    get kind() {
      return connection.mode === 'cluster' ? 'redis-cluster' : 'redis';
    },
    check(subject, limits, tokens) {
      const keys = countedOf(prefix, subject, limits);
      if (keys.length === 0) return unlimitedAdmission;
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
      const request = { subject, limits, tokens, keys, since: performance.now() };
      return (connection.mode === 'cluster' ? onCluster(request) : single(request)).then(({ answer, sentAt }) => {
        if (typeof answer === 'string') {
          onStore(answer);
          return unchecked(answer);
        }
        onStore('ok');
        const verdict = verdictOf(answer, request, windowMs, cache);
        if (!verdict.admitted) cache.keep(subject, limits, tokens, verdict, sentAt, performance.now());
        return verdict;
      });
    },
    peek: (subject, limits) => cache.peek(subject, limits),
    inspect: (of) => inspectLog({ ...deps, script: scripts.inspect }, logNameOf(prefix, of)),
    async reset(only) {
      cache.clear();
      return removeLogs(connection, prefix, only);
    },
    forgetRefusals: () => cache.clear(),
    ready: () => connection.ready(),
    close: () => connection.close(),
  };
}
