import type { TableInChangeLog } from '@tradepost/runtime';

export const vipTables: readonly string[] = [
  'vip.plans',
  'vip.levels',
  'vip.coupon_rules',
  'vip.sku_prices',
  'vip.assets',
  'vip.growth_logs',
  'vip.monthly_claims',
  'vip.purchases',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const vipInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'vip.plans': { en: 'membership plan', 'zh-CN': '会员套餐' },
  'vip.levels': { en: 'member level', 'zh-CN': '会员等级' },
  'vip.coupon_rules': { en: 'monthly coupon rule', 'zh-CN': '月度赠券规则' },
  'vip.sku_prices': { en: 'member price', 'zh-CN': '会员价' },
  'vip.assets': { unwatched: 'Rows of shoppers.' },
  'vip.growth_logs': { unwatched: 'Rows of shoppers.' },
  'vip.monthly_claims': { unwatched: 'Rows of shoppers.' },
  'vip.purchases': { unwatched: 'Written by shoppers and payment providers.' },
};
