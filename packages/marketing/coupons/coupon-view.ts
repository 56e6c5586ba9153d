import { isoInZone, type Locale, labelOf, toWire } from '@tradepost/core';
import { validityView } from '../validity.ts';
import { type Coupon, type CouponTerms, couponStatusLabels, couponTypeLabels, discountToWire } from './coupon.ts';

export type ViewOptions = { readonly zone: string; readonly locale: Locale };

/** The card of a coupon or of a version of it. */
export const couponCardOf = (
  coupon: CouponTerms & { readonly id: number; readonly status: 0 | 1 },
  { zone, locale }: ViewOptions,
) => ({
  id: coupon.id,
  name: coupon.name,
  type: coupon.type,
  type_label: labelOf(couponTypeLabels, coupon.type, locale),
  min_amount: toWire(coupon.min_amount),
  discount: discountToWire(coupon),
  ...validityView(coupon, zone),
  status: coupon.status,
  status_label: labelOf(couponStatusLabels, coupon.status, locale),
  description: coupon.description,
  stack_rule: coupon.stack_rule,
});

/** A coupon with all its fields. */
export const couponViewOf = (coupon: Coupon, options: ViewOptions) => ({
  ...couponCardOf(coupon, options),
  target_type: coupon.target_type,
  target_value: coupon.target_value,
  total_count: coupon.total_count,
  per_limit: coupon.per_limit,
  claimed_count: coupon.claimed_count,
  used_count: coupon.used_count,
  created_at: isoInZone(coupon.created_at, options.zone),
  updated_at: isoInZone(coupon.updated_at, options.zone),
});
