import type { Localized } from '@tradepost/core';

export const salesName: Localized = { en: 'Sales', 'zh-CN': '销售额' };
export const ordersName: Localized = { en: 'Orders', 'zh-CN': '订单数' };

/** The states of orders, as the chart of the dashboard names them. */
export const statusNames: readonly (readonly [status: number, name: Localized])[] = [
  [1, { en: 'Pending Payment', 'zh-CN': '待付款' }],
  [2, { en: 'Pending Shipment', 'zh-CN': '待发货' }],
  [3, { en: 'Pending Receipt', 'zh-CN': '待收货' }],
  [4, { en: 'Completed', 'zh-CN': '已完成' }],
  [5, { en: 'After-Sale', 'zh-CN': '售后中' }],
  [6, { en: 'Canceled', 'zh-CN': '已取消' }],
];
