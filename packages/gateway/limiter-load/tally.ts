import { type Dimension, dimensions } from '@tradepost/rate-limiter';
import { type Histogram, openHistogram } from './histogram.ts';

/** The counts of a run so far. */
export type Tally = {
  admitted: number;
  refused: number;
  /** By the dimension that the refusal named. */
  readonly refusedBy: Record<Dimension, number>;
  /** Requests that were admitted without a check, because the store did not answer. */
  unchecked: number;
  errors: number;
  /** Number of errors by kind. */
  readonly errorKinds: Map<string, number>;
  readonly latency: Histogram;
};

export const openTally = (): Tally => ({
  ...{ admitted: 0, refused: 0, unchecked: 0, errors: 0 },
  refusedBy: Object.fromEntries(dimensions.map((dimension) => [dimension, 0])) as Record<Dimension, number>,
  errorKinds: new Map(),
  latency: openHistogram(),
});

/** Further kinds are counted together as `other`. */
const maxKinds = 20;

export function countError(tally: Tally, name: string): void {
  tally.errors += 1;
  const kind = tally.errorKinds.has(name) || tally.errorKinds.size < maxKinds ? name : 'other';
  tally.errorKinds.set(kind, (tally.errorKinds.get(kind) ?? 0) + 1);
}

export const answeredOf = ({ admitted, refused, errors }: Tally): number => admitted + refused + errors;
