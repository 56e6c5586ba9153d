import { AppError, type Locale } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { vipErrors } from '../errors.ts';
import { selectAsset } from '../memberships/asset-store.ts';
import { countClaim, noteCoupon } from './claim-store.ts';
import type { Coupons } from './coupons.ts';
import { rules } from './rule-store.ts';

/** The natural month in a time zone as a number: 202603. `isoInZone` has the date at its beginning. */
export const monthOf = (iso: string): number => Number(iso.slice(0, 7).replace('-', ''));

export type Claim = { user_id: number; rule_id: number; month: number; now: Date; locale: Locale };

/** Gives a member the coupon of a rule, and counts it in the month. Throws the refusal. */
export async function claimCoupon(
  tx: Transaction,
  coupons: Coupons,
  { user_id, rule_id, month, now, locale }: Claim,
): Promise<void> {
  const member = await selectAsset(tx, user_id, now);
  if (member?.status !== 1) throw vipErrors.not_a_member();
  const rule = await rules.select(tx, rule_id);
  if (rule?.status !== 1) throw vipErrors.rule_unavailable();
  if (rule.plan_id > 0 && rule.plan_id !== member.current_plan_id) throw vipErrors.other_plan();
  if (rule.level_id > 0 && rule.level_id !== member.level_id) throw vipErrors.other_level();
  if (!(await countClaim(tx, { user_id, rule_id, month, quota: rule.monthly_quota }, now)))
    throw vipErrors.quota_used();
  const { coupon_name } = rule;
  const coupon_id = rule.coupon_id || ((await coupons?.withNames(tx, [coupon_name]))?.get(coupon_name) ?? 0);
  if (!coupons || coupon_id === 0) throw vipErrors.nothing_to_issue();
  const [issued] = await coupons.issue(tx, [{ user_id, coupon_id, source: 'vip' }], now);
  if (typeof issued !== 'number') throw refusalOf(issued, locale);
  await noteCoupon(tx, { user_id, rule_id, month }, issued);
}

/** The refusal of the coupons, with the code of this contract. */
function refusalOf(issued: unknown, locale: Locale): Error {
  if (issued instanceof AppError) return vipErrors.coupon_refused({ reason: issued.messageIn(locale) });
  return issued instanceof Error ? issued : vipErrors.nothing_to_issue();
}
