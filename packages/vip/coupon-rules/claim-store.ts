import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxRules } from '../limits.ts';
import type { CouponRule } from './rule-store.ts';

type MonthlyRule = Pick<CouponRule, 'id' | 'name' | 'coupon_id' | 'coupon_name' | 'monthly_quota'> & {
  claimed: number;
};

/** The enabled rules for members of this plan and level, with the claims of this shopper in the month. */
export async function selectMonthlyRules(
  sql: Queryable,
  of: { user_id: number; plan_id: number; level_id: number; month: number },
): Promise<MonthlyRule[]> {
  return sql<MonthlyRule[]>`
    select r.id, r.name, r.coupon_id, r.coupon_name, r.monthly_quota, coalesce(c.claimed, 0) as claimed
    from vip.coupon_rules r
    left join vip.monthly_claims c on c.user_id = ${of.user_id} and c.rule_id = r.id and c.month = ${of.month}
    where r.status = 1 and r.claim_mode = 'manual' and r.plan_id in (0, ${of.plan_id}) and r.level_id in (0, ${of.level_id})
    order by r.id limit ${maxRules}`;
}

/**
 * Counts a claim. Returns false when the quota of the month is used up. Concurrent claims of a shopper wait for each other, so the
 * quota is exact.
 */
export async function countClaim(
  tx: Transaction,
  claim: { user_id: number; rule_id: number; month: number; quota: number },
  now: Date,
): Promise<boolean> {
  const { user_id, rule_id, month, quota } = claim;
  const rows = await tx`
    insert into vip.monthly_claims as c (user_id, rule_id, month, claimed, quota, user_coupon_ids, updated_at)
    select ${user_id}, ${rule_id}, ${month}, 1, ${quota}, '{}', ${now} where ${quota}::int > 0
    on conflict (user_id, rule_id, month) do update
    set claimed = c.claimed + 1, quota = excluded.quota, updated_at = excluded.updated_at where c.claimed < excluded.quota
    returning 1`;
  return rows.length > 0;
}

/** Notes the coupon of a claim that was counted in this transaction. */
export async function noteCoupon(
  tx: Transaction,
  { user_id, rule_id, month }: { user_id: number; rule_id: number; month: number },
  userCouponId: number,
): Promise<void> {
  await tx`
    update vip.monthly_claims set user_coupon_ids = user_coupon_ids || ${userCouponId}::bigint
    where user_id = ${user_id} and rule_id = ${rule_id} and month = ${month}`;
}
