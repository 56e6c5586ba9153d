import fc from 'fast-check';
import {
  type Dimension,
  dimensions,
  type KeyKind,
  keyKinds,
  type Limits,
  type Subject,
  type Tightest,
  type Verdict,
} from '../limits.ts';

/** A brute-force model of the limiter: it keeps a list of all admitted requests and reads the whole list for each check. */
export type Oracle = {
  check(request: CheckRequest, clock: number): Verdict;
  usage(kind: KeyKind, key: string | number, at: number): { requests: number; tokens: number };
};
export type CheckRequest = { readonly subject: Subject; readonly limits: Limits; readonly tokens: number };
type Entry = { readonly at: number; readonly tokens: number };

export const noLimits = Object.fromEntries(dimensions.map((dimension) => [dimension, 0])) as Limits;
/** A subject without keys. */
export const noKeys: Subject = { user: null, token: null, ip: null, model: null };

const dimensionsOf = (kind: KeyKind) => dimensions.filter((dimension) => dimension.startsWith(kind));
const isRequests = (dimension: Dimension) => dimension.endsWith('rpm');
const sum = (entries: readonly Entry[], dimension: Dimension) =>
  entries.reduce((total, { tokens }) => total + (isRequests(dimension) ? 1 : tokens), 0);

/** The first of the smallest shares; shares are compared without rounding. */
function tightestOf(left: readonly Tightest[]): Tightest | null {
  let tightest: Tightest | null = null;
  for (const one of left)
    if (
      tightest === null ||
      BigInt(one.remaining) * BigInt(tightest.limit) < BigInt(tightest.remaining) * BigInt(one.limit)
    )
      tightest = one;
  return tightest;
}

/**
 * `own`: the clock never goes back. `newest`: when the clock goes back, the time stays at the newest entry of the request's
 * logs. A log whose newest entry is more than a window in the future does not count.
 */
export function openOracle(windowMs: number, clockKind: 'own' | 'newest'): Oracle {
  const logs = new Map<string, readonly Entry[]>();
  const nameOf = (kind: KeyKind, key: string | number) => `${kind} ${key}`;
  let own = 0;

  return {
    check({ subject, limits, tokens }, clock) {
      const counted = keyKinds.filter(
        (kind) => subject[kind] !== null && dimensionsOf(kind).some((dimension) => limits[dimension] > 0),
      );
      const named = counted.map((kind) => ({ kind, name: nameOf(kind, subject[kind]!) }));
      const kept = named.map(({ kind, name }) => {
        const log = logs.get(name) ?? [];
        const newest = Math.max(0, ...log.map(({ at }) => at));
        return { kind, name, log: clockKind === 'newest' && newest > clock + windowMs ? [] : log };
      });
      if (clockKind === 'own') own = Math.max(own, clock);
      const at =
        clockKind === 'own' ? own : Math.max(clock, ...kept.flatMap(({ log }) => log.map((entry) => entry.at)));

      const exceeded: { dimension: Dimension; waitMs: number | null }[] = [];
      for (const { kind, log } of kept)
        for (const dimension of dimensionsOf(kind)) {
          const limit = limits[dimension];
          const cost = isRequests(dimension) ? 1 : tokens;
          if (limit === 0) continue;
          const fits = (when: number) =>
            sum(
              log.filter((entry) => entry.at + windowMs > when),
              dimension,
            ) +
              cost <=
            limit;
          if (fits(at)) continue;
          // The sums change only when an entry leaves the window.
          const moments = log.map((entry) => entry.at + windowMs).filter((when) => when > at);
          const passes = moments.sort((a, b) => a - b).find(fits);
          exceeded.push({ dimension, waitMs: cost > limit ? null : passes! - at });
        }
      const never = exceeded.filter(({ waitMs }) => waitMs === null);
      if (never.length > 0) {
        // Only these dimensions are reported, and the store is not called.
        const denied = dimensions.filter((dimension) => never.some((one) => one.dimension === dimension));
        const dimension = denied[0]!;
        const refusedAt = clockKind === 'own' ? at : 0;
        return { admitted: false, dimension, limit: limits[dimension], waitMs: null, denied, at: refusedAt };
      }
      if (exceeded.length > 0) {
        const denied = dimensions.filter((dimension) => exceeded.some((one) => one.dimension === dimension));
        const waits = denied.map((dimension) => exceeded.find((one) => one.dimension === dimension)!);
        const longest = Math.max(...waits.map(({ waitMs }) => waitMs ?? Number.POSITIVE_INFINITY));
        const { dimension, waitMs } = waits.find((one) => (one.waitMs ?? Number.POSITIVE_INFINITY) === longest)!;
        return { admitted: false, dimension, limit: limits[dimension], waitMs, denied, at };
      }

      const left: Tightest[] = [];
      for (const { kind, name, log } of kept) {
        const charged = [...log, { at, tokens }];
        logs.set(name, charged);
        const counting = charged.filter((entry) => entry.at + windowMs > at);
        const resetMs = Math.min(...counting.map((entry) => entry.at)) + windowMs - at;
        for (const dimension of dimensionsOf(kind)) {
          const limit = limits[dimension];
          if (limit === 0) continue;
          left.push({ dimension, limit, remaining: limit - sum(counting, dimension), resetMs });
        }
      }
      return {
        admitted: true,
        tightest: tightestOf(left),
        tightestRequests: tightestOf(left.filter(({ dimension }) => isRequests(dimension))),
        tightestTokens: tightestOf(left.filter(({ dimension }) => !isRequests(dimension))),
        at,
      };
    },
    usage(kind, key, at) {
      const counting = (logs.get(nameOf(kind, key)) ?? []).filter((entry) => entry.at + windowMs > at);
      return { requests: counting.length, tokens: sum(counting, 'user_tpm') };
    },
  };
}

/** One step of a history: the move of the clock, and the request with its limits. */
export type Step = CheckRequest & { readonly move: number };

const requestLimit = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1_000, 2 ** 31 - 1, 1e12) },
);
const tokenLimit = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 24, 2 ** 31 - 1, 3 * 2 ** 31, 1e12) },
);
const someLimits: fc.Arbitrary<Limits> = fc.record(
  Object.fromEntries(
    dimensions.map((dimension) => [dimension, isRequests(dimension) ? requestLimit : tokenLimit]),
  ) as Record<Dimension, fc.Arbitrary<number>>,
);
const cost = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 120 }) },
  { weight: 1, arbitrary: fc.constantFrom(300, 301, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1) },
);
/** A token belongs to one user. Any key of a subject may be missing. */
const someSubject: fc.Arbitrary<Subject> = fc
  .record({
    user: fc.constantFrom(1, 1, 1, 2, 3, null),
    token: fc.constantFrom(1, 1, 2, null),
    ip: fc.constantFrom('10.0.0', '10.0.0', '2001:db8::1', null),
    model: fc.constantFrom('small', 'small', 'large', null),
  })
  .map((of) => ({ ...of, token: of.user === null || of.token === null ? null : of.user * 10 + of.token }));

const forward = (windowMs: number) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.integer({ min: 1, max: Math.max(2, Math.floor(windowMs / 8)) }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(windowMs - 1, windowMs, windowMs + 1, Math.ceil(windowMs / 2), 3 * windowMs + 7),
    },
  );
const back = (windowMs: number) =>
  fc.constantFrom(-1, -Math.ceil(windowMs / 3), 1 - windowMs, -windowMs, -windowMs - 1, -3 * windowMs);

/** Histories that are dense enough to cause many refusals. The limits stay for a while, then one or all change. */
export function histories(windowMs: number, options: { goesBack: boolean; length: number }): fc.Arbitrary<Step[]> {
  const moves = options.goesBack
    ? fc.oneof({ weight: 9, arbitrary: forward(windowMs) }, { weight: 1, arbitrary: back(windowMs) })
    : forward(windowMs);
  const change = fc.oneof(
    { weight: 15, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: someLimits.map((limits): Partial<Limits> => limits) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...dimensions), fc.constantFrom(0, 1, 2, 8, 500))
        .map(([dimension, limit]): Partial<Limits> => ({ [dimension]: limit })),
    },
  );
  const step = fc.record({ move: moves, change, subject: someSubject, tokens: cost });
  return fc
    .tuple(someLimits, fc.array(step, { minLength: 1, maxLength: options.length, size: 'max' }))
    .map(([first, steps]) => {
      let limits = first;
      return steps.map(({ change: changed, ...rest }) => {
        if (changed) limits = { ...limits, ...changed };
        return { ...rest, limits };
      });
    });
}

/** The time at which histories start. */
export const startMs = 1_800_000_000_000;
/** A summary of a request for a counterexample. */
export const shown = ({ subject, limits, tokens }: CheckRequest) =>
  JSON.stringify({ ...subject, tokens, limits: Object.values(limits).join(' ') });

/** The parameters of a property run. The seed is fixed, so each run has the same histories. */
export const runs = (numRuns: number) => ({ numRuns, seed: 20_260_701 + numRuns });
