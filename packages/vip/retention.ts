import { type RetentionRule, retentionDays } from '@tradepost/runtime';

export const claimDays = retentionDays('vip_claims', 730, 'counts of monthly coupons that members claimed');

export const vipRetention: readonly RetentionRule[] = [
  {
    name: 'vip_claims',
    about: 'counts of monthly coupons that members claimed, one row per month; the coupons stay',
    table: 'vip.monthly_claims',
    age: 't.updated_at',
    days: claimDays,
  },
];
