import type { TableInChangeLog } from '@tradepost/runtime';

export const activityTables: readonly string[] = [
  'activities.activities',
  'activities.activity_products',
  'activities.order_uses',
  'activities.case_returns',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const activitiesInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'activities.activities': { en: 'activity', 'zh-CN': '营销活动' },
  'activities.activity_products': { en: 'activity product', 'zh-CN': '活动商品' },
  'activities.order_uses': { unwatched: 'Rows of orders.' },
  'activities.case_returns': { unwatched: 'Rows of after-sale cases.' },
};
