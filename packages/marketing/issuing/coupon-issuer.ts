import type { CouponIssuer } from '@tradepost/module';
import { selectCouponNames, selectNewestWithNames } from '../coupons/coupon-store.ts';
import { issueCoupons } from './issue-coupons.ts';

/** Coupons for packages that give them away. These packages choose the shoppers, so the target of a coupon does not count. */
export const couponIssuer: CouponIssuer = {
  issue: (tx, rows, now) => issueCoupons(tx, rows, { now, levels: null }),
  named: selectCouponNames,
  withNames: selectNewestWithNames,
};
