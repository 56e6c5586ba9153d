import type { Log } from '@tradepost/runtime';
import { openLimiterConnection } from './limiter-connection.ts';
import { limiterScripts, type ScriptClock } from './limiter-script.ts';
import {
  type Admitted,
  type Dimension,
  type KeyKind,
  type KeyRef,
  keyKinds,
  type Limiter,
  type Limits,
  windowMs as minute,
  type Subject,
  type Tightest,
  type Verdict,
} from './limits.ts';
import { logKey, openRefusalCache } from './refusal-cache.ts';
import { type Missed, openStoreGuard } from './store-guard.ts';
import { type Exceeded, refusalOf, tighter } from './verdict.ts';

const rpmOf = { user: 'user_rpm', token: 'token_rpm', ip: 'ip_rpm', model: 'model_rpm' } as const;
const tpmOf = { user: 'user_tpm', token: 'token_tpm', ip: null, model: 'model_tpm' } as const;

/** One log that a request is counted in. */
type Counted = { readonly kind: KeyKind; readonly name: string; readonly rpm: number; readonly tpm: number };
type Check = {
  readonly subject: Subject;
  readonly limits: Limits;
  readonly tokens: number;
  readonly keys: readonly Counted[];
};
/** What the store says of one log: a and b are what is left of requests and tokens after the request, or the waits for them. */
type Part = { key: Counted; now: number; admitted: boolean; oldest: number; a: number; b: number };
type Queued = { check: Check; settle: (verdict: Verdict) => void };

/** Checks that share a call: the store is busy with one for half a millisecond. */
const mostInCall = 32;

/** On a cluster a refusal may be owed to a charge that is taken back a moment later: it is soon asked for again. */
const longestOnClusterMs = 100;

export type StoreResult = 'ok' | Missed;
export type RedisLimiter = Limiter & {
  /** Forgets which requests were refused; after a log was removed by somebody else. */
  forgetRefusals(): void;
};

/**
 * The limiter of many processes on one Redis or Valkey. A check is one round trip: the script looks at all logs and
 * charges all or none, with the server's clock, and Redis runs one script at a time. Checks that arrive in the same turn
 * of the event loop share a call; the script takes them one after the other. On a cluster a user and its tokens share a
 * slot; address and model are checked beside them and charged back when one of the three refuses.
 */
export function openRedisLimiter(options: {
  urls: readonly string[];
  log: Log;
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
  const guard = openStoreGuard({
    deadlineMs: options.deadlineMs,
    onMiss(why, error) {
      const now = performance.now();
      // One line a minute says it; the metric counts.
      if (lastError > 0 && now - lastError < 60_000) return;
      lastError = now;
      log.warn({ err: error, why }, 'limiter: the store did not answer, requests pass unchecked');
    },
    onBack: () => log.info('limiter: the store answers again'),
  });

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

  /** One call of the script for checks whose keys have the same limits wherever they are met. */
  const call = async (checks: readonly Check[]): Promise<Part[][]> => {
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

  /** On a cluster: everything at once, and what was charged for a request that is refused after all is taken back. */
  const callCluster = async (check: Check): Promise<Part[]> => {
    const { keys, tokens } = check;
    const groups = [
      keys.filter(({ kind }) => kind === 'user' || kind === 'token'),
      keys.filter(({ kind }) => kind === 'ip'),
      keys.filter(({ kind }) => kind === 'model'),
    ].filter((group) => group.length > 0);
    const settled = await Promise.allSettled(groups.map((group) => call([{ ...check, keys: group }])));
    const parts = settled.map((result) => (result.status === 'fulfilled' ? result.value[0]! : []));
    if (parts.some((part) => part[0]?.admitted === false)) {
      const charged = parts.filter((part) => part[0]?.admitted);
      await Promise.all(
        charged.map((part) =>
          connection.run(
            scripts.takeBack,
            part.map(({ key }) => key.name),
            [String(part[0]!.now), String(tokens)],
          ),
        ),
        // Refused is refused, also where a charge stays: it counts for a window at most.
      ).catch(() => {});
      return parts.flat().filter(({ admitted }) => !admitted);
    }
    const failed = settled.find((result) => result.status === 'rejected');
    // Nobody refused and a node is missing: the request passes, and what was charged is rightly so.
    if (failed) throw failed.reason;
    return parts.flat();
  };

  /** Nodes fail one by one: null where one that was needed did. Rejects when no check could be made. */
  const callEach = async (checks: readonly Check[]): Promise<(Part[] | null)[]> => {
    const settled = await Promise.allSettled(checks.map(callCluster));
    const failed = settled.find((result) => result.status === 'rejected');
    if (failed && settled.every((result) => result.status === 'rejected')) throw failed.reason;
    return settled.map((result) => (result.status === 'fulfilled' ? result.value : null));
  };

  const verdictOf = (parts: readonly Part[], { subject, limits }: Check): Verdict => {
    const at = parts[0]!.now;
    if (!parts[0]!.admitted) {
      const exceeded: Exceeded[] = [];
      for (const { key, a, b } of parts) {
        if (a !== -1) exceeded.push({ dimension: rpmOf[key.kind], waitMs: a });
        if (b !== -1) exceeded.push({ dimension: tpmOf[key.kind] as Dimension, waitMs: b === -2 ? null : b });
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

  const send = (batch: readonly Queued[]) => {
    const sentAt = performance.now();
    const checks = batch.map(({ check }) => check);
    const missed = (why: Missed) => {
      for (const { settle } of batch) {
        onStore(why);
        settle(unchecked(why));
      }
    };
    const asked = guard.ask(() => (connection.mode === 'cluster' ? callEach(checks) : call(checks)));
    if (typeof asked === 'string') return missed(asked);
    void asked.then((answers) => {
      if (typeof answers === 'string') return missed(answers);
      const receivedAt = performance.now();
      for (const [i, { check, settle }] of batch.entries()) {
        const parts = answers[i]!;
        onStore(parts ? 'ok' : 'error');
        if (!parts) {
          settle(unchecked('error'));
          continue;
        }
        const verdict = verdictOf(parts, check);
        if (!verdict.admitted) cache.keep(check.subject, check.limits, check.tokens, verdict, sentAt, receivedAt);
        settle(verdict);
      }
    });
  };

  let queue: Queued[] = [];
  const flush = () => {
    const queued = queue;
    queue = [];
    let batch: Queued[] = [];
    let limitsOf = new Map<string, Counted>();
    for (const one of queued) {
      // The same key under other limits, while a change of them is on its way, is another call.
      const fits = one.check.keys.every(({ name, rpm, tpm }) => {
        const known = limitsOf.get(name);
        return !known || (known.rpm === rpm && known.tpm === tpm);
      });
      if (!fits || batch.length === maxBatch) {
        send(batch);
        batch = [];
        limitsOf = new Map();
      }
      batch.push(one);
      for (const key of one.check.keys) limitsOf.set(key.name, key);
    }
    send(batch);
  };

  return {
    get kind() {
      return connection.mode === 'cluster' ? 'redis-cluster' : 'redis';
    },
    check(subject, limits, tokens) {
      const keys = countedOf(subject, limits);
      if (keys.length === 0) return { admitted: true, tightest: null, at: 0 };
      const known = cache.find(subject, limits, tokens);
      if (known) {
        options.onCacheHit?.();
        return known;
      }
      if (guard.rests()) {
        onStore('open');
        return unchecked('open');
      }
      return new Promise((settle) => {
        if (queue.length === 0) setImmediate(flush);
        queue.push({ check: { subject, limits, tokens, keys }, settle });
      });
    },
    peek: (subject, limits) => cache.peek(subject, limits),
    async inspect(of) {
      const answer = await connection.run(scripts.look, [nameOfRef(of)], [String(windowMs), ...clockArgs()]);
      const [now, requests, tokens, oldest] = answer as [number, number, number, number];
      return { requests, tokens, oldestLeavesMs: oldest < 0 ? null : oldest + windowMs - now };
    },
    async reset(only) {
      cache.clear();
      if (only) return connection.unlink([nameOfRef(only)]);
      let count = 0;
      for await (const keys of connection.scan(prefix)) count += await connection.unlink(keys);
      return count;
    },
    forgetRefusals: () => cache.clear(),
    ready: () => connection.ready(),
    close: () => connection.close(),
  };
}
