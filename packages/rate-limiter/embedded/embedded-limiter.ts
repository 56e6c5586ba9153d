import { type Limiter, type Limits, windowMs as minute, type Refused, type Subject, type Verdict } from '../limits.ts';
import { refusalOf } from '../verdict.ts';
import { SlidingLogs } from './sliding-logs.ts';
import { dropLog, SubjectLogs, slotOf } from './subject-logs.ts';

const noSlot = -1;
const sweepMs = 5_000;
/** The largest number of expired keys that one event-loop iteration drops. It takes a few milliseconds. */
const maxKeysPerSweep = 20_000;

export type EmbeddedLimiter = Omit<Limiter, 'check'> & {
  check(subject: Subject, limits: Limits, tokens: number): Verdict;
  readonly keys: number;
  /** The number of keys that were dropped for lack of memory while they still counted. */
  readonly evicted: number;
};

/** Drops expired keys every few seconds. Returns a function that stops it. */
function startSweeping(logs: SlidingLogs, time: () => number): () => void {
  const sweep = () => {
    if (logs.sweep(time(), maxKeysPerSweep) === maxKeysPerSweep) setImmediate(sweep);
  };
  const timer = setInterval(sweep, sweepMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The limiter of a single process. A check is atomic, because JavaScript runs one call at a time: all dimensions are
 * checked, then all are charged. The clock is monotonic, in whole milliseconds, so a change of the system time has no
 * effect.
 */
export function openEmbeddedLimiter(options: {
  memoryMb: number;
  /** For tests. At most 65,535, because an entry stores its distance in 16 bits. */
  windowMs?: number;
  now?: () => number;
}): EmbeddedLimiter {
  const { windowMs = minute, now: clock = () => Math.floor(performance.timeOrigin + performance.now()) } = options;
  const logs = new SlidingLogs({ bytes: options.memoryMb * 2 ** 20, windowMs });
  const request = new SubjectLogs(logs);
  let latest = 0;
  const time = () => {
    const now = clock();
    // The logs require a time that never goes back.
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
      return request.charge(subject, limits, tokens, now);
    },
    peek(subject, limits): Refused | null {
      const now = time();
      return request.find(subject, limits, 0, now) ? null : refusalOf(request.exceeded(limits, 0, now), limits, now);
    },
    async inspect(of) {
      const now = time();
      const slot = slotOf(logs, of, now);
      if (slot === noSlot) return { requests: 0, tokens: 0, oldestLeavesMs: null };
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
