import { type Dimension, dimensions, type KeyKind, type Limits } from '@tradepost/rate-limiter';
import type { AdmissionLog } from './in-process/admission-log.ts';

/** One wrong decision of the limiter. */
type Proof = {
  readonly what: 'over_admission' | 'false_refusal';
  /** In the form that `limiter inspect` accepts. */
  readonly key: string;
  /** null for a false refusal: all dimensions had room. */
  readonly dimension: Dimension | null;
  readonly count: number;
  readonly limit: number;
  /** Milliseconds of the limiter's clock; null over HTTP. */
  readonly at: number | null;
};

/** What a run found out about the limiter. */
export type Findings = {
  /** `exact`: by the limiter's clock. `bound`: what is certain from outside. `none`: nothing could be verified. */
  readonly method: 'exact' | 'bound' | 'none';
  readonly over_admissions: number;
  /** null over HTTP: a client cannot recognize them. */
  readonly false_refusals: number | null;
  /** Refusals that could not be judged. */
  readonly unsure_refusals: number;
  /** Requests or tokens beyond a limit that unchecked requests explain. */
  readonly explained_by_unchecked: number;
  readonly verified: readonly Dimension[];
  readonly not_verified: readonly Dimension[];
  readonly notes: readonly string[];
  readonly proofs: readonly Proof[];
  /** Keys that the embedded limiter dropped because its memory was full. */
  readonly evicted: number;
  /** Unchecked requests by the metrics of the gateway; null when they are not available. */
  readonly unchecked_by_metrics: number | null;
};

export const noFindings: Findings = {
  ...{ method: 'none', over_admissions: 0, false_refusals: null, unsure_refusals: 0, explained_by_unchecked: 0 },
  ...{ verified: [], not_verified: [], notes: [], proofs: [], evicted: 0, unchecked_by_metrics: null },
};

/** The findings of a run in process. `nameOf` answers the name of a key. */
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
