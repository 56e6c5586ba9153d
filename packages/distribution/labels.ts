import type { Labels, Locale } from '@tradepost/core';

/** The time zone and the language in which a row becomes an answer. */
export type Reader = { readonly zone: string; readonly locale: Locale };

export const distributorLabels: Labels = {
  pending: { en: 'Pending', 'zh-CN': '待审核' },
  active: { en: 'Active', 'zh-CN': '正常' },
  disabled: { en: 'Disabled', 'zh-CN': '已停用' },
};

export const commissionLabels: Labels = {
  pending: { en: 'Pending', 'zh-CN': '待结算' },
  settled: { en: 'Settled', 'zh-CN': '已结算' },
  cancelled: { en: 'Cancelled', 'zh-CN': '已取消' },
};

/** The statuses of commissions as numbers. */
export const numericCommissionLabels: Labels = {
  1: commissionLabels.pending!,
  2: commissionLabels.settled!,
  3: { en: 'Returned', 'zh-CN': '已退回' },
};

export const withdrawalLabels: Labels = {
  pending: { en: 'Pending', 'zh-CN': '待审核' },
  approved: { en: 'Approved', 'zh-CN': '待打款' },
  rejected: { en: 'Rejected', 'zh-CN': '已驳回' },
  completed: { en: 'Completed', 'zh-CN': '已完成' },
};
