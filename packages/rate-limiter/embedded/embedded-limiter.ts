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
} from '../limits.ts';
import { type Exceeded, refusalOf, tighter } from '../verdict.ts';
import { type NameSpace, openSlidingLogs } from './sliding-logs.ts';

const none = -1;
const sweepMs = 5_000;
/** Expired keys dropped in one turn of the event loop: a few milliseconds. */
const sweepMost = 20_000;

/** Ids of users and of tokens share one table. */
const userId = (id: number) => id * 2;
const tokenId = (id: number) => id * 2 + 1;
const ips = 0;
const models = 1;

const user = { rpm: 'user_rpm', tpm: 'user_tpm' } as const;
const token = { rpm: 'token_rpm', tpm: 'token_tpm' } as const;
const ip = { rpm: 'ip_rpm', tpm: null } as const;
const model = { rpm: 'model_rpm', tpm: 'model_tpm' } as const;

type Found = {
  user: boolean;
  token: boolean;
  ip: boolean;
  model: boolean;
  userSlot: number;
  tokenSlot: number;
  ipSlot: number;
  modelSlot: number;
  fits: boolean;
  freed: number;
};

export type EmbeddedLimiter = Omit<Limiter, 'check'> & {
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

  const slotOf = ({ kind, key }: KeyRef, now: number) =>
    kind === 'user'
      ? logs.findId(userId(Number(key)), now)
      : kind === 'token'
        ? logs.findId(tokenId(Number(key)), now)
        : logs.findName(kind === 'ip' ? ips : models, key, now);

  const fits = (slot: number, rpm: number, tpm: number, tokens: number): boolean =>
    slot === none
      ? tpm === 0 || tokens <= tpm
      : (rpm === 0 || logs.requests(slot) < rpm) && (tpm === 0 || logs.tokens(slot) + tokens <= tpm);

  /** Of a request that does not fit: in what, and for how long. */
  const exceededBy = (of: Found, limits: Limits, tokens: number, now: number): Exceeded[] => {
    const exceeded: Exceeded[] = [];
    const look = (slot: number, rpm: Dimension, tpm: Dimension | null) => {
      const overRequests = limits[rpm] > 0 && slot !== none ? logs.requests(slot) + 1 - limits[rpm] : 0;
      if (overRequests > 0)
        exceeded.push({ dimension: rpm, waitMs: logs.leavesAfterRequests(slot, overRequests) - now });
      const most = tpm === null ? 0 : limits[tpm];
      const overTokens = most > 0 ? (slot === none ? 0 : logs.tokens(slot)) + tokens - most : 0;
      if (overTokens > 0)
        exceeded.push({
          dimension: tpm!,
          waitMs: tokens > most ? null : logs.leavesAfterTokens(slot, overTokens) - now,
        });
    };
    if (of.user) look(of.userSlot, 'user_rpm', 'user_tpm');
    if (of.token) look(of.tokenSlot, 'token_rpm', 'token_tpm');
    if (of.ip) look(of.ipSlot, 'ip_rpm', null);
    if (of.model) look(of.modelSlot, 'model_rpm', 'model_tpm');
    return exceeded;
  };

  /** The logs that a request is counted in, and whether it fits all. One object, as one check runs at a time. */
  const found: Found = {
    ...{ user: false, token: false, ip: false, model: false, fits: false, freed: 0 },
    ...{ userSlot: none, tokenSlot: none, ipSlot: none, modelSlot: none },
  };
  const find = (subject: Subject, limits: Limits, tokens: number, now: number): Found => {
    const { user, token, ip, model } = subject;
    let fitsAll = true;
    found.user = user !== null && (limits.user_rpm > 0 || limits.user_tpm > 0);
    if (found.user) {
      found.userSlot = logs.findId(userId(user!), now);
      fitsAll = fits(found.userSlot, limits.user_rpm, limits.user_tpm, tokens);
    }
    found.token = token !== null && (limits.token_rpm > 0 || limits.token_tpm > 0);
    if (found.token) {
      found.tokenSlot = logs.findId(tokenId(token!), now);
      fitsAll &&= fits(found.tokenSlot, limits.token_rpm, limits.token_tpm, tokens);
    }
    found.ip = ip !== null && limits.ip_rpm > 0;
    if (found.ip) {
      found.ipSlot = logs.findName(ips, ip!, now);
      fitsAll &&= fits(found.ipSlot, limits.ip_rpm, 0, tokens);
    }
    found.model = model !== null && (limits.model_rpm > 0 || limits.model_tpm > 0);
    if (found.model) {
      found.modelSlot = logs.findName(models, model!, now);
      fitsAll &&= fits(found.modelSlot, limits.model_rpm, limits.model_tpm, tokens);
    }
    found.fits = fitsAll;
    found.freed = logs.freed;
    return found;
  };

  /** Slots are good while none was freed: making room for one key can take that of another. */
  const chargeId = (slot: number, id: number, freed: number, now: number, tokens: number): number => {
    if (slot === none || logs.freed !== freed) return logs.chargeId(id, now, tokens);
    logs.chargeSlot(slot, now, tokens);
    return slot;
  };
  const chargeName = (slot: number, space: NameSpace, name: string, freed: number, now: number, tokens: number) => {
    if (slot === none || logs.freed !== freed) return logs.chargeName(space, name, now, tokens);
    logs.chargeSlot(slot, now, tokens);
    return slot;
  };
  const afterCharge = (
    slot: number,
    now: number,
    of: { rpm: Dimension; tpm: Dimension | null },
    rpm: number,
    tpm: number,
    before: Tightest | null,
  ): Tightest | null => {
    const resetMs = logs.oldestLeaves(slot) - now;
    let tightest = before;
    if (rpm > 0) tightest = tighter(tightest, of.rpm, rpm, logs.requests(slot), resetMs);
    if (tpm > 0) tightest = tighter(tightest, of.tpm!, tpm, logs.tokens(slot), resetMs);
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
      const of = find(subject, limits, tokens, now);
      if (!of.fits) return refusalOf(exceededBy(of, limits, tokens, now), limits, now);
      const { freed } = of;
      let tightest: Tightest | null = null;
      if (of.user) {
        const slot = chargeId(of.userSlot, userId(subject.user!), freed, now, tokens);
        tightest = afterCharge(slot, now, user, limits.user_rpm, limits.user_tpm, tightest);
      }
      if (of.token) {
        const slot = chargeId(of.tokenSlot, tokenId(subject.token!), freed, now, tokens);
        tightest = afterCharge(slot, now, token, limits.token_rpm, limits.token_tpm, tightest);
      }
      if (of.ip) {
        const slot = chargeName(of.ipSlot, ips, subject.ip!, freed, now, tokens);
        tightest = afterCharge(slot, now, ip, limits.ip_rpm, 0, tightest);
      }
      if (of.model) {
        const slot = chargeName(of.modelSlot, models, subject.model!, freed, now, tokens);
        tightest = afterCharge(slot, now, model, limits.model_rpm, limits.model_tpm, tightest);
      }
      return { admitted: true, tightest, at: now };
    },
    peek(subject, limits): Refused | null {
      const now = time();
      const of = find(subject, limits, 0, now);
      return of.fits ? null : refusalOf(exceededBy(of, limits, 0, now), limits, now);
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
