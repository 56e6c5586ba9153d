import type { Queryable, Transaction } from '@tradepost/postgres';
import { defineRegistry } from '../registry.ts';

/** A coupon to issue. `source` says why, such as `vip` or `points_mall`; it is stored with the coupon of the shopper. */
export type CouponIssue = { readonly user_id: number; readonly coupon_id: number; readonly source: string };

/** What the package that owns coupons offers to packages that give coupons away. */
export type CouponIssuer = {
  /**
   * Issues one coupon for each row, in the caller's transaction. The limits `total_count` and `per_limit` hold, also against
   * concurrent claims. Returns for each row the id of the coupon of the shopper, or its refusal.
   */
  issue(tx: Transaction, rows: readonly CouponIssue[], now: Date): Promise<readonly (number | Error)[]>;
  /** The coupons with these ids, by id. An id without a coupon is absent. One statement. */
  named(sql: Queryable, couponIds: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** The newest coupon with each of these names, by name. A name without a coupon is absent. One statement. */
  withNames(sql: Queryable, names: readonly string[]): Promise<ReadonlyMap<string, number>>;
};

/** Empty when no package with coupons runs. */
export const couponIssuers = defineRegistry<CouponIssuer>('module.coupon_issuers');
