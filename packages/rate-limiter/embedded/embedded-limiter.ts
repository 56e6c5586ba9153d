import { type Limiter, type Limits, windowMs as minute, type Refused, type Subject, type Verdict } from '../limits.ts';
import { refusalOf } from '../verdict.ts';
import { SlidingLogs } from './sliding-logs.ts';
import { dropLog, SubjectLogs, slotOf } from './subject-logs.ts';

const none = -1;
const sweepMs = 5_000;
/** Expired keys dropped in one turn of the event loop: a few milliseconds. */
const sweepMost = 20_000;

export type EmbeddedLimiter = Omit<Limiter, 'check'> & {
  check(subject: Subject, limits: Limits, tokens: number): Verdict;
  readonly keys: number;
  /** Keys that were dropped for lack of memory while they still counted. */
  readonly evicted: number;
};

/** Drops expired keys every few seconds; answers the function that ends it. */
function startSweeping(logs: SlidingLogs, time: () => number): () => void {
  const sweep = () => {
    if (logs.sweep(time(), sweepMost) === sweepMost) setImmediate(sweep);
  };
  const timer = setInterval(sweep, sweepMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The limiter of a single process. JavaScript runs one check at a time, which is what makes it atomic: all dimensions
 * are checked, then all are charged, with nothing in between. Its clock is monotonic (whole milliseconds): a change of
 * the system's time admits or refuses no request.
 */
export function openEmbeddedLimiter(options: {
  memoryMb: number;
  /** For tests; as many as an entry's 16 bits hold. */
  windowMs?: number;
  now?: () => number;
}): EmbeddedLimiter {
  const { windowMs = minute, now: clock = () => Math.floor(performance.timeOrigin + performance.now()) } = options;
  const logs = new SlidingLogs({ bytes: options.memoryMb * 2 ** 20, windowMs });
  const request = new SubjectLogs(logs);
  let latest = 0;
  const time = () => {
    const now = clock();
    // The time given to the logs never goes back, whatever the clock says.
    if (now > latest) latest = now;
    return latest;
  };
  const stopSweeping = startSweeping(logs, time);

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
      if (!request.find(subject, limits, tokens, now))
        return refusalOf(request.exceeded(limits, tokens, now), limits, now);
      return { admitted: true, tightest: request.charge(subject, limits, tokens, now), at: now };
    },
    peek(subject, limits): Refused | null {
      const now = time();
      return request.find(subject, limits, 0, now) ? null : refusalOf(request.exceeded(limits, 0, now), limits, now);
    },
    async inspect(of) {
      const now = time();
      const slot = slotOf(logs, of, now);
      if (slot === none) return { requests: 0, tokens: 0, oldestLeavesMs: null };
      return {
        requests: logs.requests(slot),
        tokens: logs.tokens(slot),
        oldestLeavesMs: logs.oldestLeaves(slot) - now,
      };
    },
    async reset(only) {
      return only ? Number(dropLog(logs, only)) : logs.clear();
    },
    async ready() {},
    async close() {
      stopSweeping();
      logs.clear();
    },
  };
}
