import { type Dimension, dimensions, type Limits, type Refused, type Tightest } from './limits.ts';

/** A dimension of one request as it stood when it was checked. Waits are milliseconds; null: never. */
export type Exceeded = { readonly dimension: Dimension; readonly waitMs: number | null };

const rank = (dimension: Dimension) => dimensions.indexOf(dimension);

/** Names the dimension with the longest wait; ties go to the first. */
export function refusalOf(all: readonly Exceeded[], limits: Limits, at: number): Refused {
  // Of a request that never fits only that is said: what else is full now says nothing about it.
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

/** Of the two the one with the smaller share left; the first on a tie. */
export function tighter(
  a: Tightest | null,
  dimension: Dimension,
  limit: number,
  used: number,
  resetMs: number,
): Tightest {
  // After a limit was lowered more can be used than it allows.
  const remaining = Math.max(0, limit - used);
  return a !== null && a.remaining * limit <= remaining * a.limit ? a : { dimension, limit, remaining, resetMs };
}
