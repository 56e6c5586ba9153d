import { id, idOrZero, list, text, timestamp, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';
import { name, status } from '../fields.ts';
import { maxCouponName, maxQuota, maxRules } from '../limits.ts';
import type { CouponRule } from './rule-store.ts';

const quota = () =>
  z
    .int()
    .min(0)
    .max(maxQuota)
    .meta({ examples: [2] });
const couponName = () =>
  text(maxCouponName)
    .trim()
    .meta({ examples: ['Ten off'] });
const fields = {
  coupon_id: zeroWhenEmpty(idOrZero())
    .optional()
    .meta({ description: '0: the coupon is found by coupon_name', examples: [1] }),
  coupon_name: couponName().optional(),
  plan_id: zeroWhenEmpty(idOrZero()).optional().meta({ description: 'the plan of the members; 0: any' }),
  level_id: zeroWhenEmpty(idOrZero()).optional().meta({ description: 'the level of the members; 0: any' }),
  claim_mode: z
    .enum(['manual'])
    .optional()
    .meta({ examples: ['manual'] }),
  monthly_limit: zeroWhenEmpty(quota()).optional(),
  monthly_quota: zeroWhenEmpty(quota()).optional().meta({ description: 'another name of monthly_limit' }),
  status: status().optional(),
};
export const ruleBody = z
  .object({ name: name('Monthly coupon'), ...fields })
  .refine((body) => (body.coupon_id ?? 0) > 0 || (body.coupon_name ?? '') !== '', {
    params: { fault: 'missing' },
    path: ['coupon_name'],
  });
export const ruleChange = z.object({ name: name('Monthly coupon').optional(), ...fields });

export const ruleSchema = z
  .object({
    id: id(),
    name: z.string().meta({ examples: ['Monthly coupon'] }),
    coupon_id: idOrZero(),
    coupon_name: z.string().meta({ examples: ['Ten off'] }),
    plan_id: idOrZero(),
    level_id: idOrZero(),
    claim_mode: z.literal('manual'),
    monthly_limit: quota(),
    monthly_quota: quota(),
    status: status(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'VipCouponRule' });

/** `couponName`: the present name of the coupon; the rule keeps the name that it was saved with. */
export const ruleView = (rule: CouponRule, couponName: string, iso: (at: Date) => string) => ({
  ...{ id: rule.id, name: rule.name, coupon_id: rule.coupon_id, coupon_name: couponName },
  ...{ plan_id: rule.plan_id, level_id: rule.level_id, claim_mode: 'manual' as const, status: rule.status },
  ...{ monthly_limit: rule.monthly_quota, monthly_quota: rule.monthly_quota },
  ...{ created_at: iso(rule.created_at), updated_at: iso(rule.updated_at) },
});

export const monthlyCoupons = list(
  z
    .object({
      rule_id: id(),
      name: z.string().meta({ examples: ['Monthly coupon'] }),
      coupon_name: z.string().meta({ examples: ['Ten off'] }),
      claimed: z.int().meta({ description: 'in this month', examples: [1] }),
      monthly_limit: quota(),
    })
    .meta({ id: 'VipMonthlyCoupon' }),
  maxRules,
);
