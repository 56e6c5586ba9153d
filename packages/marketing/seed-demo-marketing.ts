import type { DemoSeed } from '@tradepost/module';
import type { CouponFields } from './coupons/coupon.ts';
import { insertCoupons } from './coupons/coupon-store.ts';
import { insertFullReduction } from './full-reductions/full-reduction-store.ts';

const always = { start_at: null, end_at: null };
const forAll = { target_type: 'all', target_value: '', status: 1, total_count: 10_000, per_limit: 1 } as const;

const coupons: readonly CouponFields[] = [
  {
    ...{ name: '5 off from 50', type: 1, min_amount: 50_00, discount: 5_00, stack_rule: 'cross_type' },
    ...{ description: 'Can be combined with coupons of other types.', ...forAll, ...always },
  },
  {
    ...{ name: '10 % off', type: 2, min_amount: 0, discount: 9_000, stack_rule: 'cross_type' },
    // Without a limit per shopper: `tradepost demo` claims it in every run.
    ...{ description: 'Can be combined with coupons of other types.', ...forAll, per_limit: 0, ...always },
  },
  {
    ...{ name: 'Welcome: 3 off', type: 3, min_amount: 0, discount: 3_00, stack_rule: 'exclusive' },
    ...{ description: 'For the first order.', ...forAll, target_type: 'new_user', ...always },
  },
];

/** Three coupons to claim, and a full reduction for large orders. */
export const marketingDemo: DemoSeed = {
  isEmpty: async (sql) => (await sql`select id from marketing.coupons limit 1`).length === 0,
  async write(tx) {
    const now = new Date();
    await insertCoupons(tx, coupons, now);
    const tiers = [
      { min: 1_000_00, reduce: 50_00 },
      { min: 2_000_00, reduce: 150_00 },
    ];
    await insertFullReduction(tx, { name: '50 off from 1,000', tiers, status: 1, ...always }, now);
    return {};
  },
};
