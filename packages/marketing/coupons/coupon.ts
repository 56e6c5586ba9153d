import { type Labels, type Minor, toMinor, toWire } from '@tradepost/core';
import { marketingErrors } from '../errors.ts';
import type { Validity } from '../validity.ts';

/** 1: an amount off from `min_amount`, 2: a rate, 3: an amount off. */
export const couponTypes = [1, 2, 3] as const;
export type CouponType = (typeof couponTypes)[number];
export const stackRules = ['exclusive', 'same_type', 'cross_type'] as const;
type StackRule = (typeof stackRules)[number];
export const targetTypes = ['all', 'vip_level', 'new_user'] as const;
type TargetType = (typeof targetTypes)[number];

export const couponTypeLabels: Labels = {
  1: { en: 'Threshold reduction', 'zh-CN': '满减券' },
  2: { en: 'Discount rate', 'zh-CN': '折扣券' },
  3: { en: 'No threshold', 'zh-CN': '立减券' },
};
export const couponStatusLabels: Labels = {
  0: { en: 'Disabled', 'zh-CN': '停用' },
  1: { en: 'Enabled', 'zh-CN': '启用' },
};

/** What a coupon is worth to a shopper. A version of a coupon keeps it. */
export type CouponTerms = Validity & {
  readonly name: string;
  readonly type: CouponType;
  readonly min_amount: Minor;
  /** Minor units; for type 2 the part of the price that is paid, in 1/10,000. */
  readonly discount: number;
  readonly description: string;
  readonly stack_rule: StackRule;
};

/** The fields that staff edit. A count of 0 is unlimited. */
export type CouponFields = CouponTerms & {
  readonly target_type: TargetType;
  readonly target_value: string | number;
  readonly total_count: number;
  readonly per_limit: number;
  readonly status: 0 | 1;
};

export type Coupon = CouponFields & {
  readonly id: number;
  /** The coupons that shoppers got. */
  readonly claimed_count: number;
  /** The coupons that staff sent. */
  readonly used_count: number;
  readonly version_id: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

const rateScale = 10_000;

/** The discount on the wire: an amount, or a rate from 0 to 1. */
export const discountToWire = ({ type, discount }: Pick<CouponTerms, 'type' | 'discount'>): number =>
  type === 2 ? discount / rateScale : toWire(discount);

/** Rounds to cents, or a rate to four decimals. Throws the refusal of a discount that does not fit the type. */
export function discountFromWire(type: CouponType, given: number): number {
  const discount = type === 2 ? Math.round(given * rateScale) : toMinor(given);
  if (type === 2 && (discount < 1 || discount > rateScale)) throw marketingErrors.invalid_rate();
  if (discount < 1) throw marketingErrors.invalid_amount_off();
  return discount;
}

/** What the coupon takes off a base of at least `min_amount`, before the limit of the base. Half a cent is rounded up. */
export const couponDiscount = ({ type, discount }: Pick<CouponTerms, 'type' | 'discount'>, base: Minor): Minor =>
  type === 2 ? Math.floor((base * (rateScale - discount) + rateScale / 2) / rateScale) : discount;

/** The member level of a coupon for one. Undefined when `target_value` is not an id. */
export function levelOf({ target_value }: Pick<CouponFields, 'target_value'>): number | undefined {
  const level = typeof target_value === 'number' || /^\d{1,15}$/.test(target_value) ? Number(target_value) : 0;
  return Number.isSafeInteger(level) && level > 0 ? level : undefined;
}
