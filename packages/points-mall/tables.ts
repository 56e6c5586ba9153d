import type { TableInChangeLog } from '@tradepost/runtime';

export const mallTables: readonly string[] = ['points_mall.products', 'points_mall.exchanges'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const mallInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'points_mall.products': { en: 'product for points', 'zh-CN': '积分商品' },
  'points_mall.exchanges': { en: 'exchange of points', 'zh-CN': '积分兑换' },
};
