import type { Minor } from '@tradepost/core';
import { type CouponTerms, type CouponType, couponDiscount } from '../coupons/coupon.ts';

/** A coupon that a shopper chose. */
export type Candidate = Pick<CouponTerms, 'type' | 'min_amount' | 'discount' | 'stack_rule' | 'end_at'> & {
  readonly id: number;
};
/** A coupon with what it takes off. */
type Valued<C> = { readonly coupon: C; readonly off: Minor };

/** The largest discount first; of equal ones the coupon that ends first, then the older one. */
const byValue = <C extends Candidate>(a: Valued<C>, b: Valued<C>) =>
  b.off - a.off ||
  (a.coupon.end_at?.getTime() ?? Infinity) - (b.coupon.end_at?.getTime() ?? Infinity) ||
  a.coupon.id - b.coupon.id;

/** The first coupons of a sorted list that reach the base, or all of them: the rest would take nothing off. */
function upTo<C>(sorted: readonly Valued<C>[], base: Minor): Valued<C>[] {
  const used: Valued<C>[] = [];
  let sum = 0;
  for (const valued of sorted) {
    if (sum >= base) break;
    used.push(valued);
    sum += valued.off;
  }
  return used;
}

const sumOf = <C>(used: readonly Valued<C>[], base: Minor) =>
  Math.min(
    base,
    used.reduce((sum, { off }) => sum + off, 0),
  );

/**
 * The best allowed combination of these coupons for an order of `base`, the largest discount first. Allowed are: one coupon alone,
 * coupons of one type that are all `same_type`, and coupons of different types that are all `cross_type`. Of combinations with the same
 * discount, one with the fewest coupons. Each discount is calculated from `base`. A coupon whose `min_amount` is above the base, or
 * that takes nothing off, is not used.
 */
export function bestCombination<C extends Candidate>(coupons: readonly C[], base: Minor): Valued<C>[] {
  const usable = coupons
    .filter(({ min_amount }) => min_amount <= base)
    .map((coupon) => ({ coupon, off: couponDiscount(coupon, base) }))
    .filter(({ off }) => off > 0 && base > 0)
    .sort(byValue);
  const withRule = (rule: Candidate['stack_rule']) => usable.filter(({ coupon }) => coupon.stack_rule === rule);
  const perType = new Map<CouponType, Valued<C>>();
  for (const valued of withRule('cross_type'))
    if (!perType.has(valued.coupon.type)) perType.set(valued.coupon.type, valued);
  const combinations = [
    withRule('exclusive').slice(0, 1),
    ...Map.groupBy(withRule('same_type'), ({ coupon }) => coupon.type).values(),
    [...perType.values()],
  ].map((combination) => upTo(combination, base));
  return combinations.reduce((best, next) => {
    const more = sumOf(next, base) - sumOf(best, base);
    return more > 0 || (more === 0 && next.length > 0 && next.length < best.length) ? next : best;
  }, []);
}
