import type { CouponIssuer } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';
import { vipErrors } from '../errors.ts';
import type { CouponRule, RuleFields } from './rule-store.ts';

/** The coupons of the shop. Undefined while no package with coupons runs. */
export type Coupons = CouponIssuer | undefined;

type Named = Pick<RuleFields, 'coupon_id' | 'coupon_name'>;

/**
 * Completes what names the coupon of a rule: by its id, else by its name. A name without a coupon is kept, and the coupon is searched
 * again at each claim. An id without a coupon is refused, unless no package with coupons runs.
 */
export async function resolveCoupon(
  sql: Queryable,
  coupons: Coupons,
  { coupon_id, coupon_name }: Named,
): Promise<Named> {
  if (!coupons) return { coupon_id, coupon_name };
  if (coupon_id === 0)
    return { coupon_id: (await coupons.withNames(sql, [coupon_name])).get(coupon_name) ?? 0, coupon_name };
  const found = (await coupons.named(sql, [coupon_id])).get(coupon_id);
  if (found === undefined) throw vipErrors.coupon_unknown();
  return { coupon_id, coupon_name: found };
}

/** The present names of the coupons of these rules: that of a deleted coupon is the one which the rule was saved with. */
export async function couponNames(
  sql: Queryable,
  coupons: Coupons,
  rules: readonly Pick<CouponRule, 'coupon_id' | 'coupon_name'>[],
): Promise<string[]> {
  const ids = [...new Set(rules.map((rule) => rule.coupon_id).filter((id) => id > 0))];
  const names = coupons && ids.length > 0 ? await coupons.named(sql, ids) : new Map<number, string>();
  return rules.map((rule) => names.get(rule.coupon_id) ?? rule.coupon_name);
}
