import { Deadlines, type Waiting } from './deadlines.ts';

/** Why a check went without the store. */
export type Missed = 'timeout' | 'error' | 'open';

export type StoreGuard = {
  /**
   * The store's answer, or why there is none. Nothing is asked while the breaker is open. A late answer is dropped; what
   * the store did for it stays done. The deadline runs from `since` (`performance.now()`; default: now): what has waited
   * for longer before it could be sent is not sent.
   */
  ask<T>(send: () => Promise<T>, since?: number): Promise<T | Missed> | Missed;
  /** Whether `ask` would not ask now. */
  rests(): boolean;
};

/** So many misses in a row open the breaker; what is in flight then is a bounded loss. */
const misses = 5;
const firstRestMs = 100;
const longestRestMs = 500;

/**
 * A deadline and a breaker around a store that may be down, slow, or stand still with its connection open. While open, one
 * call at a time is let through as a probe after each rest.
 */
export function openStoreGuard(options: {
  deadlineMs: () => number;
  /** A call that was sent in vain. */
  onMiss: (why: Exclude<Missed, 'open'>, error?: unknown) => void;
  onBack: () => void;
}): StoreGuard {
  const deadlines = new Deadlines();
  let missed = 0;
  let restMs = firstRestMs;
  let openUntil = 0;
  let opened = false;
  let probing = false;

  const failed = (why: Exclude<Missed, 'open'>, probe: boolean, error?: unknown): Missed => {
    options.onMiss(why, error);
    missed += 1;
    if (opened || missed >= misses) {
      // Those that were sent before it opened come late, and say nothing new.
      if (opened && !probe) return why;
      if (probe) restMs = Math.min(restMs * 2, longestRestMs);
      openUntil = performance.now() + restMs;
      opened = true;
    }
    return why;
  };
  const answered = () => {
    missed = 0;
    if (!opened) return;
    opened = false;
    restMs = firstRestMs;
    options.onBack();
  };

  const rests = () => opened && (probing || performance.now() < openUntil);

  return {
    rests,
    ask<T>(send: () => Promise<T>, since = performance.now()): Promise<T | Missed> | Missed {
      if (rests()) return 'open';
      if (performance.now() >= since + options.deadlineMs()) return failed('timeout', false);
      const probe = opened;
      if (probe) probing = true;
      return new Promise((resolve) => {
        const call: Waiting = { until: since + options.deadlineMs(), miss: null };
        const settle = (result: T | Missed) => {
          call.miss = null;
          if (probe) probing = false;
          resolve(result);
        };
        call.miss = () => settle(failed('timeout', probe));
        deadlines.add(call);
        send().then(
          (answer) => {
            if (call.miss === null) return;
            answered();
            settle(answer);
          },
          (error: unknown) => {
            if (call.miss !== null) settle(failed('error', probe, error));
          },
        );
      });
    },
  };
}
