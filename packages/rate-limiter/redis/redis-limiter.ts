import { setTimeout as sleep } from 'node:timers/promises';
import { coalesce } from '@tradepost/core';
import type { LimiterLog } from '../limiter-log.ts';
import {
  type Admitted,
  type Dimension,
  type KeyKind,
  type KeyRef,
  keyKinds,
  type Limiter,
  type Limits,
  windowMs as minute,
  rpmOf,
  type Subject,
  type Tightest,
  tpmOf,
  type Verdict,
} from '../limits.ts';
import { type Exceeded, refusalOf, tighter } from '../verdict.ts';
import { openLimiterConnection } from './limiter-connection.ts';
import { limiterScripts, type ScriptClock } from './limiter-script.ts';
import { logKey, openRefusalCache } from './refusal-cache.ts';
import { type Missed, openStoreGuard, type StoreGuard } from './store-guard.ts';

/** One log that a request is counted in. */
type Counted = { readonly kind: KeyKind; readonly name: string; readonly rpm: number; readonly tpm: number };
type Check = {
  readonly subject: Subject;
  readonly limits: Limits;
  readonly tokens: number;
  readonly keys: readonly Counted[];
  /** `performance.now()` when it came. */
  readonly since: number;
};
/** What the store says of one log: a and b are what is left of requests and tokens after the request, or the waits for them. */
type Part = { key: Counted; now: number; admitted: boolean; oldest: number; a: number; b: number };
/** What the store says of a check, and when it was asked. */
type Asked = { readonly answer: readonly Part[] | Missed; readonly sentAt: number };

/** Redis did not answer `inspect` or `reset` in time, or refused. */
export class LimiterStoreError extends Error {
  override name = 'LimiterStoreError';
}

/** The longest wait for an answer to `inspect` and `reset`. */
const lookMs = 3_000;
const inTime = async <T>(asked: Promise<T>): Promise<T> => {
  const late = sleep(lookMs, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${lookMs} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    throw new LimiterStoreError((error as Error).message, { cause: error });
  }
};

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
  let lastError = 0;
  /** Nodes of a cluster fail one by one: each has its own deadline and breaker. */
  const guards = new Map<string, StoreGuard>();
  const guardOf = (node: string): StoreGuard => {
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
      onBack: () => log.info({ node }, 'limiter: the store answers again'),
    });
    guards.set(node, guard);
    return guard;
  };

  const clockArgs = options.clock === 'argument' ? () => [String(options.now!())] : () => [];
  /** A user's tokens lie where the user lies. */
  const nameOf = (kind: KeyKind, key: string | number, user: number | null) =>
    kind === 'user'
      ? `${prefix}{u${key}}`
      : kind === 'token'
        ? `${prefix}{u${user}}:t${key}`
        : `${prefix}{${kind[0]}:${key}}`;

  const nameOfRef = (of: KeyRef) => nameOf(of.kind, of.key, of.kind === 'token' ? of.user : null);

  const countedOf = (subject: Subject, limits: Limits): Counted[] => {
    const counted: Counted[] = [];
    for (const kind of keyKinds) {
      const key = subject[kind];
      if (key === null) continue;
      const rpm = limits[rpmOf[kind]];
      const tpm = kind === 'ip' ? 0 : limits[tpmOf[kind]];
      if (rpm > 0 || tpm > 0) counted.push({ kind, name: nameOf(kind, key, subject.user), rpm, tpm });
    }
    return counted;
  };

  /** One call of the script. A key has the same limits in all checks. */
  const callOnce = async (checks: readonly Check[]): Promise<Part[][]> => {
    const places = new Map<string, number>();
    const names: string[] = [];
    let limits = String(windowMs);
    let requests = '';
    for (const { keys, tokens } of checks) {
      requests += `,${tokens},${keys.length}`;
      for (const { name, rpm, tpm } of keys) {
        let place = places.get(name);
        if (place === undefined) {
          place = names.push(name);
          places.set(name, place);
          limits += `,${rpm},${tpm}`;
        }
        requests += `,${place}`;
      }
    }
    const answer = await connection.run(scripts.check, names, [`[${limits}${requests}]`, ...clockArgs()]);
    let at = 1 + names.length;
    return checks.map(({ keys }) => {
      const admitted = answer[at] === 1;
      at += 1;
      return keys.map((key) => {
        const part = {
          key,
          now: answer[0]!,
          admitted,
          oldest: answer[places.get(key.name)!]!,
          a: answer[at]!,
          b: answer[at + 1]!,
        };
        at += 2;
        return part;
      });
    });
  };

  /** The same key under other limits, while a change of them is on its way, is another call. */
  const call = async (checks: readonly Check[]): Promise<Part[][]> => {
    const limitsOf = new Map<string, Counted>();
    const other = checks.findIndex(({ keys }) =>
      keys.some((key) => {
        const known = limitsOf.get(key.name) ?? key;
        limitsOf.set(key.name, known);
        return known.rpm !== key.rpm || known.tpm !== key.tpm;
      }),
    );
    if (other < 0) return callOnce(checks);
    return [...(await callOnce(checks.slice(0, other))), ...(await call(checks.slice(other)))];
  };

  /** On a cluster: everything at once, and what was charged for a request that is refused after all is taken back. */
  const callCluster = async (check: Check): Promise<Part[] | Missed> => {
    const { keys, tokens } = check;
    const groups = [
      keys.filter(({ kind }) => kind === 'user' || kind === 'token'),
      keys.filter(({ kind }) => kind === 'ip'),
      keys.filter(({ kind }) => kind === 'model'),
    ].filter((group) => group.length > 0);
    const guarded = groups.map((group) => guardOf(connection.nodeOf(group[0]!.name)));
    const answers = await Promise.all(
      groups.map((group, i) => guarded[i]!.ask(() => call([{ ...check, keys: group }]).then(([parts]) => parts!))),
    );
    const parts = answers.filter((answer) => typeof answer !== 'string');
    const refused = parts.filter(([part]) => !part!.admitted);
    if (refused.length > 0) {
      for (const [i, answer] of answers.entries()) {
        if (typeof answer === 'string' || !answer[0]!.admitted) continue;
        const names = answer.map(({ key }) => key.name);
        // Refused is refused, also where a charge stays: it counts for a window at most.
        void guarded[i]!.ask(() => connection.run(scripts.takeBack, names, [String(answer[0]!.now), String(tokens)]));
      }
      return refused.flat();
    }
    // Nobody refused and a node is missing: the request passes, and what was charged is rightly so.
    return answers.find((answer) => typeof answer === 'string') ?? parts.flat();
  };

  const verdictOf = (parts: readonly Part[], { subject, limits }: Check): Verdict => {
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
  };

  const unchecked = (why: Missed): Admitted => ({ admitted: true, tightest: null, unchecked: why, at: 0 });

  const single = coalesce<Check, Asked>(
    async (checks) => {
      const sentAt = performance.now();
      const answers = await guardOf('').ask(() => call(checks), checks[0]!.since);
      return checks.map((_, i) => ({ answer: typeof answers === 'string' ? answers : answers[i]!, sentAt }));
    },
    {
      maxBatch,
      maxInFlight: maxBatch === 1 ? Number.POSITIVE_INFINITY : callsAtOnce,
      patienceMs,
      maxQueue: Number.POSITIVE_INFINITY,
    },
  );
  /** Each by itself: whose nodes are well does not wait for those of others. */
  const onCluster = async (check: Check): Promise<Asked> => {
    const sentAt = performance.now();
    return { answer: await callCluster(check), sentAt };
  };

  return {
    get kind() {
      return connection.mode === 'cluster' ? 'redis-cluster' : 'redis';
    },
    check(subject, limits, tokens) {
      const keys = countedOf(subject, limits);
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
      if (connection.mode !== 'cluster' && guardOf('').rests()) {
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
        const verdict = verdictOf(answer, asking);
        if (!verdict.admitted) cache.keep(subject, limits, tokens, verdict, sentAt, performance.now());
        return verdict;
      });
    },
    peek: (subject, limits) => cache.peek(subject, limits),
    async inspect(of) {
      const args = [String(windowMs), ...clockArgs()];
      const answer = await inTime(connection.run(scripts.look, [nameOfRef(of)], args));
      const [now, requests, tokens, oldest] = answer as [number, number, number, number];
      return { requests, tokens, oldestLeavesMs: oldest < 0 ? null : oldest + windowMs - now };
    },
    async reset(only) {
      cache.clear();
      if (only) return inTime(connection.unlink([nameOfRef(only)]));
      let count = 0;
      const pages = connection.scan(prefix)[Symbol.asyncIterator]();
      for (let page = await inTime(pages.next()); !page.done; page = await inTime(pages.next()))
        count += await inTime(connection.unlink(page.value));
      return count;
    },
    forgetRefusals: () => cache.clear(),
    ready: () => connection.ready(),
    close: () => connection.close(),
  };
}
