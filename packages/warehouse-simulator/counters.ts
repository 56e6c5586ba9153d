import { type FaultKind, faultKinds } from './behaviour/draw-plans.ts';
import { type CallName, callNames } from './protocol.ts';

export type Counters = {
  calls: number;
  by_call: Record<CallName, number>;
  /** Calls whose idempotency key was received before. */
  repeats: number;
  /** Refusals by code. Failure codes of simulated faults are counted in `faults`. */
  refusals: Record<string, number>;
  faults: Record<FaultKind, number>;
  /** `sent` counts attempts; the others count the outcomes of callbacks. */
  callbacks: { sent: number; delivered: number; duplicates: number; refused: number; given_up: number; lost: number };
};

const zeros = <K extends string>(names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;

export const newCounters = (): Counters => ({
  ...{ calls: 0, by_call: zeros(callNames), repeats: 0, refusals: {}, faults: zeros(faultKinds) },
  callbacks: { sent: 0, delivered: 0, duplicates: 0, refused: 0, given_up: 0, lost: 0 },
});
