import fc from 'fast-check';
import { expect, test } from 'vitest';
import { couponDiscount } from '../coupons/coupon.ts';
import { bestCombination, type Candidate } from './best-combination.ts';

const coupon = fc.record({
  type: fc.constantFrom(1, 2, 3),
  rule: fc.constantFrom('exclusive', 'same_type', 'cross_type'),
  min_amount: fc.constantFrom(0, 0, 500, 2_000),
  amount: fc.integer({ min: 1, max: 1_500 }),
  rate: fc.integer({ min: 1, max: 10_000 }),
  ends: fc.option(fc.date({ noInvalidDate: true })),
});
const coupons = fc.array(coupon, { maxLength: 8 }).map((many) =>
  many.map(
    ({ type, rule, min_amount, amount, rate, ends }, index): Candidate => ({
      ...{
        id: index + 1,
        type: type as 1 | 2 | 3,
        stack_rule: rule as Candidate['stack_rule'],
        min_amount,
        end_at: ends,
      },
      discount: type === 2 ? rate : amount,
    }),
  ),
);
const bases = fc.integer({ min: 0, max: 4_000 });

/** The rules of the specification, for any set. */
function isAllowed(set: readonly Candidate[], base: number): boolean {
  if (set.some(({ min_amount }) => min_amount > base)) return false;
  if (set.length < 2) return true;
  const types = new Set(set.map(({ type }) => type));
  if (set.every(({ stack_rule }) => stack_rule === 'same_type')) return types.size === 1;
  return set.every(({ stack_rule }) => stack_rule === 'cross_type') && types.size === set.length;
}
const totalOf = (set: readonly Candidate[], base: number) =>
  Math.min(
    base,
    set.reduce((sum, one) => sum + couponDiscount(one, base), 0),
  );
const subsetsOf = (all: readonly Candidate[]) =>
  Array.from({ length: 2 ** all.length }, (_, mask) => all.filter((_one, index) => (mask >> index) & 1));

test('of all allowed combinations the best one is used, with the fewest coupons', () => {
  fc.assert(
    fc.property(coupons, bases, (all, base) => {
      const used = bestCombination(all, base).map((one) => one.coupon);
      expect(isAllowed(used, base)).toBe(true);
      const allowed = subsetsOf(all).filter((set) => isAllowed(set, base));
      const best = Math.max(...allowed.map((set) => totalOf(set, base)));
      expect(totalOf(used, base)).toBe(best);
      const fewest = Math.min(...allowed.filter((set) => totalOf(set, base) === best).map((set) => set.length));
      expect(used.length).toBe(fewest);
    }),
    { numRuns: 1_000 },
  );
});

test('more coupons never cost more, and their order does not matter', () => {
  fc.assert(
    fc.property(coupons, bases, fc.nat(), (all, base, at) => {
      const offBy = (set: readonly Candidate[]) =>
        totalOf(
          bestCombination(set, base).map((one) => one.coupon),
          base,
        );
      const fewer = all.filter((_one, index) => index !== at % Math.max(1, all.length));
      expect(offBy(all)).toBeGreaterThanOrEqual(offBy(fewer));
      expect(bestCombination(all.toReversed(), base)).toEqual(bestCombination(all, base));
    }),
    { numRuns: 500 },
  );
});

test('a rate is rounded half away from zero', () => {
  expect(couponDiscount({ type: 2, discount: 9_000 }, 1_005)).toBe(101);
  expect(couponDiscount({ type: 2, discount: 9_000 }, 1_004)).toBe(100);
  expect(couponDiscount({ type: 2, discount: 10_000 }, 1_005)).toBe(0);
});
