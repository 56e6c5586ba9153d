import { type Dimension, dimensions, type KeyKind, type Limits } from '@tradepost/rate-limiter';
import type { AdmissionLog } from './in-process/admission-log.ts';

/** One proof that the limiter was wrong. */
type Proof = {
  readonly what: 'over_admission' | 'false_refusal';
  /** As `limiter inspect` takes it. */
  readonly key: string;
  /** null: there was room in all of them. */
  readonly dimension: Dimension | null;
  readonly count: number;
  readonly limit: number;
  /** Milliseconds of the limiter's clock; null over HTTP. */
  readonly at: number | null;
};

/** What the run's own book says of the limiter. */
export type Findings = {
  /** `exact`: by the limiter's clock; `bound`: what is certain from outside; `none`: could not be told. */
  readonly method: 'exact' | 'bound' | 'none';
  readonly over_admissions: number;
  /** null: can not be told from outside. */
  readonly false_refusals: number | null;
  /** Refusals of which nothing could be said. */
  readonly unsure_refusals: number;
  /** Beyond a limit, but no more than passed without a check. */
  readonly explained_by_unchecked: number;
  readonly verified: readonly Dimension[];
  readonly not_verified: readonly Dimension[];
  readonly notes: readonly string[];
  readonly proofs: readonly Proof[];
  /** Keys the embedded limiter gave up for want of memory. */
  readonly evicted: number;
  /** Let through by the gateway's own count; null where there is none. */
  readonly unchecked_by_metrics: number | null;
};

export const noFindings: Findings = {
  ...{ method: 'none', over_admissions: 0, false_refusals: null, unsure_refusals: 0, explained_by_unchecked: 0 },
  ...{ verified: [], not_verified: [], notes: [], proofs: [], evicted: 0, unchecked_by_metrics: null },
};

/** The book of an exact run, put in words. */
export function exactFindings(
  log: AdmissionLog,
  limits: Limits,
  nameOf: (kind: number, key: number) => string,
): Findings {
  const proofs = log.faults.map(({ kind, key, ...fault }) => ({ ...fault, key: nameOf(kind, key) }));
  return {
    ...noFindings,
    ...{ method: 'exact', over_admissions: log.overAdmissions, false_refusals: log.falseRefusals },
    ...{ unsure_refusals: log.unsureRefusals, proofs },
    verified: dimensions.filter((dimension) => limits[dimension] > 0),
  };
}

export const kindOf = (dimension: Dimension): KeyKind => dimension.slice(0, dimension.indexOf('_')) as KeyKind;
export const isOfRequests = (dimension: Dimension): boolean => dimension.endsWith('_rpm');
