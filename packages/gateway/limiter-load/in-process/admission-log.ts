import type { Dimension, Limits } from '@tradepost/rate-limiter';
import { AdmissionRecords } from './admission-records.ts';
import { WindowCounts } from './window-counts.ts';

/** A decision of the limiter that was wrong. */
type Fault = {
  readonly what: 'over_admission' | 'false_refusal';
  readonly dimension: Dimension | null;
  readonly kind: number;
  readonly key: number;
  /** Requests or tokens in the window that ends at `at`, with this request; 0 for a false refusal. */
  readonly count: number;
  readonly limit: number;
  readonly at: number;
};

/** A run's own record of admitted requests, independent of the limiter, and the faults that it shows. */
export type AdmissionLog = {
  /** Requests that were admitted into a full window. */
  readonly overAdmissions: number;
  /** Requests that were refused although every dimension had room. */
  readonly falseRefusals: number;
  /** Refusals that cannot be judged: charges are missing in this log, or too many refusals were doubtful at once. */
  readonly unsureRefusals: number;
  /** The first ten. */
  readonly faults: readonly Fault[];
  /** The log has no room for all requests of a window. */
  readonly full: boolean;
  readonly newest: number;
  /** `keys` are in the order of `keyKinds`, from `offset` on. */
  admitted(at: number, keys: ArrayLike<number>, offset: number, cost: number): void;
  /**
   * The refusal was decided between `at` and `upTo` on the limiter's clock; they are equal when the time is known
   * exactly. `now` is local time: a doubtful refusal is judged when all charges of its time have arrived.
   */
  refused(at: number, upTo: number, keys: ArrayLike<number>, offset: number, cost: number, now: number): void;
  /** Reports a lost verdict. The limiter may have charged its request. */
  verdictLost(): void;
  /** Judges the doubtful refusals whose grace period has ended. */
  judgeDue(now: number): void;
};

export type AdmissionLogOptions = {
  readonly limits: Limits;
  /** Keys of each kind. */
  readonly counts: readonly number[];
  readonly windowMs: number;
  /** Within this time all charges of a moment have arrived. */
  readonly graceMs: number;
  readonly maxRecords?: number;
};

/** A refusal for which every dimension seemed to have room when it arrived. */
type DoubtfulRefusal = {
  readonly at: number;
  readonly upTo: number;
  readonly keys: readonly number[];
  readonly cost: number;
  /** Local time of the judgement. */
  readonly due: number;
};

const maxFaults = 10;
const maxDoubtful = 1_000;
/** Records that have left the window are kept this long for the judgement of refusals. */
const keptMs = 2_000;
/** Verdicts arrive out of order by fewer records than this, unless a clock went back. */
const maxShifts = 4_096;
/** A refusal whose time is known roughly expires records up to this long before it. */
const roughMs = 1_000;

/**
 * Keeps a running count for each key. Records leave the counts as the limiter's clock advances, so a check costs a few
 * additions whatever the limits are.
 *
 * An admission is wrong when the window that ends with it holds more than a limit. A refusal is wrong when every dimension
 * had room for it, counting every charge of its own millisecond.
 */
class CheckedLog implements AdmissionLog {
  overAdmissions = 0;
  falseRefusals = 0;
  unsureRefusals = 0;
  full = false;
  newest = 0;
  readonly faults: Fault[] = [];
  readonly #windowMs: number;
  readonly #graceMs: number;
  readonly #counts: WindowCounts;
  readonly #records: AdmissionRecords;
  readonly #isUnlimited: boolean;
  /** Number of the oldest record in the counts. */
  #firstCounted = 0;
  /** The time at which the window of the counts ends. */
  #countedUpTo = 0;
  /** Refusals up to this time cannot be judged. */
  #unsureUntil = Number.NEGATIVE_INFINITY;
  #isVerdictLost = false;
  #doubtful: DoubtfulRefusal[] = [];

  constructor({ limits, counts, windowMs, graceMs, maxRecords }: AdmissionLogOptions) {
    this.#windowMs = windowMs;
    this.#graceMs = graceMs;
    this.#counts = new WindowCounts(limits, counts);
    const { kinds } = this.#counts;
    this.#isUnlimited = kinds.length === 0;
    this.#records = new AdmissionRecords(kinds, maxRecords);
  }

  admitted(at: number, keys: ArrayLike<number>, offset: number, cost: number): void {
    if (this.#isUnlimited) return;
    this.#verdictArrived(at);
    if (at >= this.newest) {
      this.newest = at;
      this.#advance(at);
    }
    const records = this.#records;
    if (!records.makeRoom(this.#firstCounted)) {
      this.full = true;
      return;
    }
    let n: number | null = records.end;
    if (at < this.newest) {
      n = at > this.#countedUpTo - this.#windowMs ? records.numberFor(at, this.#firstCounted, maxShifts) : null;
      if (n === null) this.#restart(at);
    }
    records.insert(n ?? records.end, at, keys, offset, cost);
    if (!this.#counts.add(keys, offset, cost)) this.#overAdmitted(at, keys, offset);
  }

  refused(at: number, upTo: number, keys: ArrayLike<number>, offset: number, cost: number, now: number): void {
    const isExact = upTo === at;
    if (isExact) {
      this.#verdictArrived(at);
      if (at > this.newest) this.newest = at;
    }
    // The next admission may be earlier than this uncertain time, and needs the counts of its own window.
    this.#advance(isExact ? at : at - roughMs);
    if (!this.#counts.hasRoom(keys, offset, cost)) return;
    if (this.#doubtful.length === maxDoubtful) {
      this.unsureRefusals += 1;
      return;
    }
    const ownKeys = [0, 1, 2, 3].map((kind) => keys[offset + kind]!);
    this.#doubtful.push({ at, upTo, keys: ownKeys, cost, due: now + this.#graceMs });
  }

  verdictLost(): void {
    this.#isVerdictLost = true;
    this.#unsureUntil = Math.max(this.#unsureUntil, this.newest + this.#windowMs);
  }

  judgeDue(now: number): void {
    if (this.#doubtful.length === 0 || this.#doubtful[0]!.due > now) return;
    const all = this.#doubtful;
    this.#doubtful = [];
    for (const refusal of all) {
      if (refusal.due <= now) this.#judge(refusal);
      else this.#doubtful.push(refusal);
    }
  }

  /** Verdicts arrive in the order of the calls. So a charge with a lost verdict was made no later than this verdict. */
  #verdictArrived(at: number): void {
    if (!this.#isVerdictLost) return;
    this.#isVerdictLost = false;
    this.#unsureUntil = Math.max(this.#unsureUntil, at + this.#windowMs + this.#graceMs);
  }

  /** Moves the window of the counts forward, and drops records that no judgement needs any more. */
  #advance(now: number): void {
    if (now <= this.#countedUpTo) return;
    this.#countedUpTo = now;
    const records = this.#records;
    const windowStart = now - this.#windowMs;
    for (
      ;
      this.#firstCounted < records.end && records.timeOf(this.#firstCounted) <= windowStart;
      this.#firstCounted += 1
    )
      this.#counts.remove(records, this.#firstCounted);
    while (records.first < this.#firstCounted && records.timeOf(records.first) <= windowStart - keptMs)
      records.dropFirst();
  }

  /** The limiter's clock went back: the records say nothing about the windows that follow. */
  #restart(at: number): void {
    this.#counts.clear();
    this.#records.clear();
    this.#firstCounted = this.#records.end;
    this.unsureRefusals += this.#doubtful.length;
    this.#doubtful = [];
    this.#unsureUntil = Math.max(this.#unsureUntil, this.newest, at) + this.#windowMs;
    this.newest = at;
    this.#countedUpTo = at;
  }

  #overAdmitted(at: number, keys: ArrayLike<number>, offset: number): void {
    this.overAdmissions += 1;
    for (const excess of this.#counts.excesses(keys, offset)) this.#fault({ what: 'over_admission', ...excess, at });
  }

  #judge({ at, upTo, keys, cost }: DoubtfulRefusal): void {
    const windowStart = at - this.#windowMs;
    if (at <= this.#unsureUntil || this.#records.droppedUpTo > windowStart) this.unsureRefusals += 1;
    else if (this.#counts.hadRoom(this.#records, windowStart, upTo, keys, cost)) {
      this.falseRefusals += 1;
      this.#fault({ what: 'false_refusal', dimension: null, kind: 0, key: keys[0]!, count: 0, limit: 0, at });
    }
  }

  #fault(fault: Fault): void {
    if (this.faults.length < maxFaults) this.faults.push(fault);
  }
}

export const openAdmissionLog = (options: AdmissionLogOptions): AdmissionLog => new CheckedLog(options);
