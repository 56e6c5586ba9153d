/** Consecutive failures after which an upstream rests. */
const failuresToRest = 3;
const firstRestMs = 1_000;
const longestRestMs = 60_000;

export type HealthState = 'up' | 'resting' | 'probing';

/** Whether an upstream is worth asking. Times are of one monotonic clock, in ms. */
export type Health = {
  /** Whether it may be asked now. After its rest it may be once, until that request has told how it went. */
  ready(now: number): boolean;
  /** A request goes to it. */
  asked(now: number): void;
  succeeded(): void;
  /** A stream has begun: no rest any more, but how it ends is still to be seen. */
  answering(): void;
  failed(now: number): void;
  /** Its own rate limit: it is well, but wants to be left alone for so long. */
  limited(now: number, waitMs: number): void;
  /** The request ended without saying anything about it (the client went away). */
  unknown(): void;
  state(now: number): { state: HealthState; failures: number; restMs: number };
};

export function openHealth(): Health {
  let failures = 0;
  let restMs = 0;
  let restsUntil = Number.NEGATIVE_INFINITY;
  let resting = false;
  let probing = false;
  return {
    ready: (now) => !resting || (now >= restsUntil && !probing),
    asked(now) {
      if (resting && now >= restsUntil) probing = true;
    },
    succeeded() {
      failures = 0;
      restMs = 0;
      resting = false;
      probing = false;
    },
    answering() {
      resting = false;
      probing = false;
    },
    failed(now) {
      failures += 1;
      // Requests that were under way when the rest began do not lengthen it; a probe that fails does, whatever it rested for.
      if (resting ? now < restsUntil && !probing : failures < failuresToRest) return;
      probing = false;
      resting = true;
      restMs = Math.min(Math.max(firstRestMs, restMs * 2), longestRestMs);
      restsUntil = now + restMs;
    },
    limited(now, waitMs) {
      probing = false;
      resting = true;
      failures = 0;
      restMs = 0;
      restsUntil = Math.max(restsUntil, now + Math.min(Math.max(waitMs, 0), longestRestMs));
    },
    unknown() {
      probing = false;
    },
    state(now) {
      const state = !resting ? 'up' : now < restsUntil ? 'resting' : 'probing';
      return { state, failures, restMs: Math.max(0, Math.round(resting ? restsUntil - now : 0)) };
    },
  };
}
