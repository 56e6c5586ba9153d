import { CircuitBreaker } from '@tradepost/core';
import { Deadlines, type Waiting } from './deadlines.ts';

/** The reason why a check got no answer of the store. `open`: the circuit was open and no call was made. */
export type Missed = 'timeout' | 'error' | 'open';

export type StoreGuard = {
  /**
   * Calls the store. Returns its answer, or the reason for a missing answer. While the circuit is open, no call is made. An
   * answer after the deadline is dropped, but the store has done the work. The deadline counts from `since`
   * (`performance.now()`, default: now). A request that waited longer than that is not sent.
   */
  call<T>(send: () => Promise<T>, since?: number): Promise<T | Missed> | Missed;
  /** Whether `call` would return `open` now. */
  isOpen(): boolean;
};

/** The store is called again soon: a check costs little, and requests pass unchecked meanwhile. */
const circuitOptions = { failuresToOpen: 5, firstPauseMs: 100, longestPauseMs: 500 };

/** A deadline and a circuit breaker around a store that may be down, slow, or frozen with its connection open. */
export function openStoreGuard(options: {
  deadlineMs: () => number;
  /** A call failed or missed its deadline. */
  onMiss: (why: Exclude<Missed, 'open'>, error?: unknown) => void;
  /** The circuit closed again. */
  onRecovery: () => void;
}): StoreGuard {
  const deadlines = new Deadlines();
  const circuit = new CircuitBreaker(circuitOptions);

  const failed = (why: Exclude<Missed, 'open'>, isTrial: boolean, error?: unknown): Missed => {
    options.onMiss(why, error);
    circuit.fail(performance.now(), isTrial);
    return why;
  };

  return {
    isOpen: () => !circuit.allows(performance.now()),
    call<T>(send: () => Promise<T>, since = performance.now()): Promise<T | Missed> | Missed {
      const now = performance.now();
      if (!circuit.allows(now)) return 'open';
      const until = since + options.deadlineMs();
      if (now >= until) return failed('timeout', false);
      const isTrial = circuit.begin(now);
      return new Promise((resolve) => {
        const waiting: Waiting = { until, miss: null };
        const settle = (result: T | Missed) => {
          waiting.miss = null;
          resolve(result);
        };
        waiting.miss = () => settle(failed('timeout', isTrial));
        deadlines.add(waiting);
        send().then(
          (answer) => {
            if (waiting.miss === null) return;
            if (circuit.succeed()) options.onRecovery();
            settle(answer);
          },
          (error: unknown) => {
            if (waiting.miss !== null) settle(failed('error', isTrial, error));
          },
        );
      });
    },
  };
}
