import { type Admitted, type Dimension, dimensions, type Limits, type Refused, type Tightest } from './limits.ts';

/** A dimension that one request exceeds, and the wait in milliseconds. Null: the request never fits. */
export type Exceeded = { readonly dimension: Dimension; readonly waitMs: number | null };

const rank = (dimension: Dimension) => dimensions.indexOf(dimension);

/** The refusal of a request that exceeds these dimensions. It names the dimension with the longest wait. */
export function refusalOf(all: readonly Exceeded[], limits: Limits, at: number): Refused {
  // When a request never fits, only the dimensions that it never fits are reported: the other waits do not matter.
  const never = all.filter(({ waitMs }) => waitMs === null);
  const exceeded = never.length > 0 ? never : all;
  let named = exceeded[0]!;
  const wait = ({ waitMs }: Exceeded) => waitMs ?? Number.POSITIVE_INFINITY;
  for (const one of exceeded)
    if (wait(one) > wait(named) || (wait(one) === wait(named) && rank(one.dimension) < rank(named.dimension)))
      named = one;
  return {
    admitted: false,
    dimension: named.dimension,
    limit: limits[named.dimension],
    waitMs: named.waitMs,
    denied: exceeded.map(({ dimension }) => dimension),
    at,
  };
}

/** Returns the dimension with the smaller remaining share: `a`, or the given one. On a tie returns `a`. */
export function tighter(
  a: Tightest | null,
  dimension: Dimension,
  limit: number,
  used: number,
  resetMs: number,
): Tightest {
  // After a limit was lowered, the usage may exceed it.
  const remaining = Math.max(0, limit - used);
  return a !== null && a.remaining * limit <= remaining * a.limit ? a : { dimension, limit, remaining, resetMs };
}

/** The admission with these tightest dimensions of requests and of tokens. On a tie `tightest` is the first in `dimensions`. */
export function admissionOf(requests: Tightest | null, tokens: Tightest | null, at: number): Admitted {
  let tightest = requests ?? tokens;
  if (requests !== null && tokens !== null) {
    const difference = requests.remaining * tokens.limit - tokens.remaining * requests.limit;
    const isTokens = difference > 0 || (difference === 0 && rank(tokens.dimension) < rank(requests.dimension));
    if (isTokens) tightest = tokens;
  }
  return { admitted: true, tightest, tightestRequests: requests, tightestTokens: tokens, at };
}

/** The admission of a request that is not limited, or was not checked. */
export const unlimitedAdmission: Admitted = Object.freeze(admissionOf(null, null, 0));
