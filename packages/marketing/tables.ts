import type { TableInChangeLog } from '@tradepost/runtime';

export const marketingTables: readonly string[] = [
  'marketing.coupons',
  'marketing.coupon_versions',
  'marketing.user_coupons',
  'marketing.full_reductions',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const marketingInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'marketing.coupons': { en: 'coupon', 'zh-CN': '优惠券' },
  'marketing.coupon_versions': { unwatched: 'Copies of coupons, whose table is watched.' },
  'marketing.user_coupons': { unwatched: 'Rows of shoppers. The count of a coupon shows what staff have sent.' },
  'marketing.full_reductions': { en: 'full reduction', 'zh-CN': '满减活动' },
};
