import { type Dimension, dimensions } from '@tradepost/rate-limiter';
import { type Histogram, openHistogram } from './histogram.ts';

/** What a run has counted so far. */
export type Tally = {
  admitted: number;
  refused: number;
  /** By the dimension that was named. */
  readonly refusedBy: Record<Dimension, number>;
  /** Admitted without a check, as the store did not answer. */
  unchecked: number;
  errors: number;
  /** What the errors were, and how often. */
  readonly errorKinds: Map<string, number>;
  readonly latency: Histogram;
};

export const openTally = (): Tally => ({
  ...{ admitted: 0, refused: 0, unchecked: 0, errors: 0 },
  refusedBy: Object.fromEntries(dimensions.map((dimension) => [dimension, 0])) as Record<Dimension, number>,
  errorKinds: new Map(),
  latency: openHistogram(),
});

/** Kinds beyond are counted together. */
const mostKinds = 20;

export function countError(tally: Tally, what: string): void {
  tally.errors += 1;
  const kind = tally.errorKinds.has(what) || tally.errorKinds.size < mostKinds ? what : 'other';
  tally.errorKinds.set(kind, (tally.errorKinds.get(kind) ?? 0) + 1);
}

export const answeredOf = ({ admitted, refused, errors }: Tally): number => admitted + refused + errors;
