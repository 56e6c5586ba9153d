import {
  type Dimension,
  type KeyRef,
  type Limiter,
  type Limits,
  windowMs as minute,
  type Refused,
  type Subject,
  type Tightest,
  type Verdict,
} from './limits.ts';
import { openSlidingLogs } from './sliding-logs.ts';
import { type Exceeded, refusalOf, tighter } from './verdict.ts';

const none = -1;
const sweepMs = 5_000;
/** Expired keys dropped in one turn of the event loop: a few milliseconds. */
const sweepMost = 20_000;

/** Ids of users and of tokens share one table. */
const userId = (id: number) => id * 2;
const tokenId = (id: number) => id * 2 + 1;
const ips = 0;
const models = 1;

export type EmbeddedLimiter = Limiter & {
  check(subject: Subject, limits: Limits, tokens: number): Verdict;
  readonly keys: number;
  /** Keys given up for memory while they still counted. */
  readonly evicted: number;
};

/**
 * The limiter of a single process. JavaScript runs one check at a time, which is what makes it atomic: all dimensions
 * are checked, then all are charged, with nothing in between. Its clock is monotonic (whole milliseconds): no change of
 * the system's time admits or refuses anybody.
 */
export function openEmbeddedLimiter(options: {
  memoryMb: number;
  /** For tests; as many as an entry's 16 bits hold. */
  windowMs?: number;
  now?: () => number;
}): EmbeddedLimiter {
  const { windowMs = minute, now: clock = () => Math.floor(performance.timeOrigin + performance.now()) } = options;
  const logs = openSlidingLogs({ bytes: options.memoryMb * 2 ** 20, windowMs });
  let latest = 0;
  const time = () => {
    const now = clock();
    // Whatever a clock says, it does not go back.
    if (now > latest) latest = now;
    return latest;
  };

  const exceeds = (
    slot: number,
    now: number,
    of: { rpm: Dimension; tpm: Dimension },
    limits: Limits,
    tokens: number,
    into: Exceeded[] | null,
  ): Exceeded[] | null => {
    let exceeded = into;
    const rpm = limits[of.rpm];
    const tpm = limits[of.tpm];
    if (rpm > 0 && slot !== none) {
      const over = logs.requests(slot) + 1 - rpm;
      if (over > 0) {
        exceeded ??= [];
        exceeded.push({ dimension: of.rpm, waitMs: logs.leavesAfterRequests(slot, over) - now });
      }
    }
    if (tpm > 0) {
      const over = (slot === none ? 0 : logs.tokens(slot)) + tokens - tpm;
      if (over > 0) {
        exceeded ??= [];
        exceeded.push({ dimension: of.tpm, waitMs: tokens > tpm ? null : logs.leavesAfterTokens(slot, over) - now });
      }
    }
    return exceeded;
  };

  const user = { rpm: 'user_rpm', tpm: 'user_tpm' } as const;
  const token = { rpm: 'token_rpm', tpm: 'token_tpm' } as const;
  const model = { rpm: 'model_rpm', tpm: 'model_tpm' } as const;
  const ipLimits = (limits: Limits) => limits.ip_rpm > 0;
  const limited = (of: { rpm: Dimension; tpm: Dimension }, limits: Limits) => limits[of.rpm] > 0 || limits[of.tpm] > 0;

  const slotOf = ({ kind, key }: KeyRef, now: number) =>
    kind === 'user'
      ? logs.findId(userId(Number(key)), now)
      : kind === 'token'
        ? logs.findId(tokenId(Number(key)), now)
        : logs.findName(kind === 'ip' ? ips : models, key, now);

  const exceededBy = (subject: Subject, limits: Limits, tokens: number, now: number): Exceeded[] | null => {
    let exceeded: Exceeded[] | null = null;
    if (subject.user !== null && limited(user, limits))
      exceeded = exceeds(logs.findId(userId(subject.user), now), now, user, limits, tokens, exceeded);
    if (subject.token !== null && limited(token, limits))
      exceeded = exceeds(logs.findId(tokenId(subject.token), now), now, token, limits, tokens, exceeded);
    if (subject.ip !== null && ipLimits(limits)) {
      const slot = logs.findName(ips, subject.ip, now);
      const over = slot === none ? 0 : logs.requests(slot) + 1 - limits.ip_rpm;
      if (over > 0) {
        exceeded ??= [];
        exceeded.push({ dimension: 'ip_rpm', waitMs: logs.leavesAfterRequests(slot, over) - now });
      }
    }
    if (subject.model !== null && limited(model, limits))
      exceeded = exceeds(logs.findName(models, subject.model, now), now, model, limits, tokens, exceeded);
    return exceeded;
  };

  const afterCharge = (
    slot: number,
    now: number,
    of: { rpm: Dimension; tpm: Dimension },
    limits: Limits,
    before: Tightest | null,
  ): Tightest | null => {
    const resetMs = logs.oldestLeaves(slot) - now;
    let tightest = before;
    if (limits[of.rpm] > 0) tightest = tighter(tightest, of.rpm, limits[of.rpm], logs.requests(slot), resetMs);
    if (limits[of.tpm] > 0) tightest = tighter(tightest, of.tpm, limits[of.tpm], logs.tokens(slot), resetMs);
    return tightest;
  };

  const timer = setInterval(() => {
    const more = () => {
      if (logs.sweep(time(), sweepMost) === sweepMost) setImmediate(more);
    };
    more();
  }, sweepMs);
  timer.unref();

  return {
    kind: 'embedded',
    get keys() {
      return logs.size;
    },
    get evicted() {
      return logs.evicted;
    },
    check(subject, limits, tokens) {
      const now = time();
      const exceeded = exceededBy(subject, limits, tokens, now);
      if (exceeded !== null) return refusalOf(exceeded, limits, now);
      let tightest: Tightest | null = null;
      if (subject.user !== null && limited(user, limits))
        tightest = afterCharge(logs.chargeId(userId(subject.user), now, tokens), now, user, limits, tightest);
      if (subject.token !== null && limited(token, limits))
        tightest = afterCharge(logs.chargeId(tokenId(subject.token), now, tokens), now, token, limits, tightest);
      if (subject.ip !== null && ipLimits(limits)) {
        const slot = logs.chargeName(ips, subject.ip, now, tokens);
        tightest = tighter(tightest, 'ip_rpm', limits.ip_rpm, logs.requests(slot), logs.oldestLeaves(slot) - now);
      }
      if (subject.model !== null && limited(model, limits))
        tightest = afterCharge(logs.chargeName(models, subject.model, now, tokens), now, model, limits, tightest);
      return { admitted: true, tightest, at: now };
    },
    peek(subject, limits): Refused | null {
      const now = time();
      const exceeded = exceededBy(subject, limits, 0, now);
      return exceeded === null ? null : refusalOf(exceeded, limits, now);
    },
    async inspect(of) {
      const now = time();
      const slot = slotOf(of, now);
      if (slot === none) return { requests: 0, tokens: 0, oldestLeavesMs: null };
      return {
        requests: logs.requests(slot),
        tokens: logs.tokens(slot),
        oldestLeavesMs: logs.oldestLeaves(slot) - now,
      };
    },
    async reset(only) {
      if (!only) return logs.clear();
      const { kind, key } = only;
      if (kind === 'user') return Number(logs.dropId(userId(Number(key))));
      if (kind === 'token') return Number(logs.dropId(tokenId(Number(key))));
      return Number(logs.dropName(kind === 'ip' ? ips : models, key));
    },
    async ready() {},
    async close() {
      clearInterval(timer);
      logs.clear();
    },
  };
}
