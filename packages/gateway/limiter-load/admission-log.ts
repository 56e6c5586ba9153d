import { type Dimension, keyKinds, type Limits } from '@tradepost/rate-limiter';

/** Something that must not be. */
type Fault = {
  readonly what: 'over_admission' | 'false_refusal';
  readonly dimension: Dimension | null;
  readonly kind: number;
  readonly key: number;
  /** Requests or tokens in the window that ends at `at`, with this request; of a false refusal 0. */
  readonly count: number;
  readonly limit: number;
  readonly at: number;
};

/** A run's own book of what was admitted, apart from the limiter's, and what it finds wrong. */
export type AdmissionLog = {
  /** Requests that were admitted into a window that was full. */
  readonly overAdmissions: number;
  /** Requests that were refused although every dimension had room. */
  readonly falseRefusals: number;
  /** Refusals that nothing can be said of, as charges are missing in this book or too many were doubtful at once. */
  readonly unsureRefusals: number;
  /** The first few. */
  readonly faults: readonly Fault[];
  /** No room for what is still within the window. */
  readonly full: boolean;
  readonly newest: number;
  /** Keys in the order of `keyKinds`, from `offset` on. */
  admitted(at: number, keys: ArrayLike<number>, offset: number, cost: number): void;
  /**
   * `upTo` is later than `at` where the moment is only known to lie between the two, on the limiter's clock. `now` is
   * local: what looks wrong is looked at again when everything of that moment is in the book.
   */
  refused(at: number, upTo: number, keys: ArrayLike<number>, offset: number, cost: number, now: number): void;
  /** A charge may have been made that nobody was told of. */
  lost(): void;
  /** Looks again at what is due. */
  settle(now: number): void;
};

type Suspect = { at: number; upTo: number; keys: number[]; cost: number; due: number };
type Kind = {
  index: number;
  rpm: number;
  tpm: number;
  requests: Uint32Array;
  tokens: Float64Array;
  keys: Uint32Array;
};

const firstRecords = 4_096;
/** 28 bytes each. */
const mostRecords = 2 ** 23;
const mostFaults = 10;
const mostSuspects = 1_000;
/** Records that have left the window stay so long for a second look. */
const keptMs = 2_000;
/** Verdicts that are told in another order than they were made in lie this close together, unless a clock went back. */
const mostShifts = 4_096;

/**
 * One queue of all that was admitted, in the order of the limiter's clock, and a running count per key: what leaves the
 * window is taken off as the clock goes on, so that a check costs a few additions whatever the limits are.
 *
 * An admission is wrong when the window that ends with it holds more than the limit. A refusal is wrong when every
 * dimension had room for it even with everything charged in its own millisecond, before or after it.
 */
export function openAdmissionLog(options: {
  limits: Limits;
  /** Keys of each kind. */
  counts: readonly number[];
  windowMs: number;
  /** After how long everything of a moment is in the book. */
  graceMs: number;
  maxRecords?: number;
}): AdmissionLog {
  const { limits, windowMs, graceMs, maxRecords = mostRecords } = options;
  let capacity = Math.min(firstRecords, maxRecords);
  let mask = capacity - 1;
  let times = new Float64Array(capacity);
  let costs = new Uint32Array(capacity);
  const kinds: Kind[] = keyKinds
    .map((kind, index) => ({
      index,
      rpm: limits[`${kind}_rpm`],
      tpm: kind === 'ip' ? 0 : limits[`${kind}_tpm`],
      requests: new Uint32Array(options.counts[index]!),
      tokens: new Float64Array(options.counts[index]!),
      keys: new Uint32Array(capacity),
    }))
    .filter(({ rpm, tpm, requests }) => (rpm > 0 || tpm > 0) && requests.length > 0);

  // Places count up for ever; a record lies at its place modulo the capacity. From `kept` on they are here, from `counted`
  // on they are in the counts.
  let kept = 0;
  let counted = 0;
  let tail = 0;
  let newest = 0;
  /** Up to here the counts have lost what is older than a window. */
  let expiredTo = 0;
  /** What was charged up to here may be gone from the book. */
  let forgottenTo = Number.NEGATIVE_INFINITY;
  let unsureUntil = Number.NEGATIVE_INFINITY;
  let overAdmissions = 0;
  let falseRefusals = 0;
  let unsureRefusals = 0;
  let full = false;
  let isLost = false;
  const faults: Fault[] = [];
  let suspects: Suspect[] = [];

  const grow = () => {
    const larger = <T extends Uint32Array | Float64Array>(from: T, to: T): T => {
      for (let place = kept; place < tail; place += 1) to[place & (capacity * 2 - 1)] = from[place & mask]!;
      return to;
    };
    times = larger(times, new Float64Array(capacity * 2));
    costs = larger(costs, new Uint32Array(capacity * 2));
    for (const kind of kinds) kind.keys = larger(kind.keys, new Uint32Array(capacity * 2));
    capacity *= 2;
    mask = capacity - 1;
  };

  const forgetOldest = () => {
    forgottenTo = times[kept & mask]!;
    kept += 1;
  };
  const makeRoom = (): boolean => {
    if (capacity * 2 <= maxRecords) grow();
    else if (kept < counted) forgetOldest();
    else return false;
    return true;
  };

  const expire = (now: number) => {
    if (now <= expiredTo) return;
    expiredTo = now;
    const limit = now - windowMs;
    for (; counted < tail && times[counted & mask]! <= limit; counted += 1) {
      const at = counted & mask;
      const cost = costs[at]!;
      for (const { requests, tokens, keys } of kinds) {
        const key = keys[at]!;
        requests[key] = requests[key]! - 1;
        tokens[key] = tokens[key]! - cost;
      }
    }
    while (kept < counted && times[kept & mask]! <= limit - keptMs) forgetOldest();
  };

  /** A clock that went back: what was known of its windows means nothing any more. */
  const restart = (at: number) => {
    for (const { requests, tokens } of kinds) {
      requests.fill(0);
      tokens.fill(0);
    }
    kept = tail;
    counted = tail;
    unsureRefusals += suspects.length;
    suspects = [];
    unsureUntil = Math.max(unsureUntil, newest, at) + windowMs;
    newest = at;
    expiredTo = at;
  };

  const fault = (found: Fault) => {
    if (faults.length < mostFaults) faults.push(found);
  };

  /** Room in every dimension, by the counts as they stand. */
  const hasRoom = (keys: ArrayLike<number>, offset: number, cost: number): boolean => {
    for (const { index, rpm, tpm, requests, tokens } of kinds) {
      const key = keys[offset + index]!;
      if (rpm > 0 && requests[key]! + 1 > rpm) return false;
      if (tpm > 0 && tokens[key]! + cost > tpm) return false;
    }
    return true;
  };

  /** The same from the records themselves. */
  const hadRoom = ({ at, upTo, keys, cost }: Suspect): boolean => {
    const requests = [0, 0, 0, 0];
    const tokens = [0, 0, 0, 0];
    for (let place = tail - 1; place >= kept; place -= 1) {
      const time = times[place & mask]!;
      if (time > upTo) continue;
      if (time <= at - windowMs) break;
      for (const kind of kinds) {
        if (kind.keys[place & mask] !== keys[kind.index]) continue;
        requests[kind.index]! += 1;
        tokens[kind.index]! += costs[place & mask]!;
      }
    }
    return kinds.every(
      ({ index, rpm, tpm }) =>
        (rpm === 0 || requests[index]! + 1 <= rpm) && (tpm === 0 || tokens[index]! + cost <= tpm),
    );
  };

  /** What nobody was told of was charged before the next verdict at the latest: answers come in the order of the calls. */
  const told = (at: number) => {
    if (!isLost) return;
    isLost = false;
    unsureUntil = Math.max(unsureUntil, at + windowMs + graceMs);
  };

  const judge = (suspect: Suspect) => {
    if (suspect.at <= unsureUntil || forgottenTo > suspect.at - windowMs) unsureRefusals += 1;
    else if (hadRoom(suspect)) {
      falseRefusals += 1;
      const { keys, at } = suspect;
      fault({ what: 'false_refusal', dimension: null, kind: 0, key: keys[0]!, count: 0, limit: 0, at });
    }
  };

  return {
    get overAdmissions() {
      return overAdmissions;
    },
    get falseRefusals() {
      return falseRefusals;
    },
    get unsureRefusals() {
      return unsureRefusals;
    },
    get full() {
      return full;
    },
    get newest() {
      return newest;
    },
    faults,
    admitted(at, keys, offset, cost) {
      if (kinds.length === 0) return;
      told(at);
      if (at >= newest) {
        newest = at;
        expire(at);
      }
      if (tail - kept === capacity && !makeRoom()) {
        full = true;
        return;
      }
      let place = tail;
      if (at < newest) {
        while (place > counted && tail - place < mostShifts && times[(place - 1) & mask]! > at) place -= 1;
        if (tail - place === mostShifts || at <= expiredTo - windowMs) {
          restart(at);
          place = tail;
        }
        for (let moved = tail; moved > place; moved -= 1) {
          times[moved & mask] = times[(moved - 1) & mask]!;
          costs[moved & mask] = costs[(moved - 1) & mask]!;
          for (const kind of kinds) kind.keys[moved & mask] = kind.keys[(moved - 1) & mask]!;
        }
      }
      tail += 1;
      const here = place & mask;
      times[here] = at;
      costs[here] = cost;
      let wrong = false;
      for (const kind of kinds) {
        const { index, rpm, tpm, requests, tokens } = kind;
        const key = keys[offset + index]!;
        kind.keys[here] = key;
        const count = requests[key]! + 1;
        const sum = tokens[key]! + cost;
        requests[key] = count;
        tokens[key] = sum;
        if ((rpm === 0 || count <= rpm) && (tpm === 0 || sum <= tpm)) continue;
        wrong = true;
        const ofRequests = rpm > 0 && count > rpm;
        fault({
          ...{ what: 'over_admission', dimension: `${keyKinds[index]!}_${ofRequests ? 'rpm' : 'tpm'}` as Dimension },
          ...{ kind: index, key, count: ofRequests ? count : sum, limit: ofRequests ? rpm : tpm, at },
        });
      }
      if (wrong) overAdmissions += 1;
    },
    refused(at, upTo, keys, offset, cost, now) {
      if (upTo === at) {
        told(at);
        if (at > newest) newest = at;
      }
      // What is only known roughly must not take from the counts what the next admission still needs.
      expire(upTo === at ? at : at - 1_000);
      if (!hasRoom(keys, offset, cost)) return;
      if (suspects.length === mostSuspects) {
        unsureRefusals += 1;
        return;
      }
      const own = [0, 1, 2, 3].map((kind) => keys[offset + kind]!);
      suspects.push({ at, upTo, keys: own, cost, due: now + graceMs });
    },
    lost() {
      isLost = true;
      unsureUntil = Math.max(unsureUntil, newest + windowMs);
    },
    settle(now) {
      if (suspects.length === 0 || suspects[0]!.due > now) return;
      const waiting = suspects;
      suspects = [];
      for (const suspect of waiting) {
        if (suspect.due <= now) judge(suspect);
        else suspects.push(suspect);
      }
    },
  };
}
