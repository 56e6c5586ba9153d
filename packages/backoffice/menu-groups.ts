import type { Localized } from '@tradepost/core';

export type MenuGroup = {
  readonly key: string;
  readonly title: Localized;
  readonly icon: string;
  readonly sort: number;
};

export const dashboard = { path: '/dashboard', title: { en: 'Dashboard', 'zh-CN': '仪表盘' } satisfies Localized };

/** The groups of the console's menus. Modules declare the menus of each group. */
export const menuGroups: readonly MenuGroup[] = [
  { key: 'product', title: { en: 'Products', 'zh-CN': '商品' }, icon: 'box', sort: 10 },
  { key: 'order', title: { en: 'Orders', 'zh-CN': '订单' }, icon: 'shopping-cart', sort: 20 },
  { key: 'user', title: { en: 'Customers', 'zh-CN': '用户' }, icon: 'users', sort: 30 },
  { key: 'marketing', title: { en: 'Marketing', 'zh-CN': '营销' }, icon: 'tag', sort: 40 },
  { key: 'vip', title: { en: 'VIP', 'zh-CN': '会员' }, icon: 'award', sort: 45 },
  { key: 'wms', title: { en: 'Warehouse', 'zh-CN': '仓储' }, icon: 'warehouse', sort: 50 },
  { key: 'system', title: { en: 'System', 'zh-CN': '系统' }, icon: 'settings', sort: 60 },
];
