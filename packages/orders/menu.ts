import type { MenuEntry } from '@tradepost/module';

export const orderMenu: readonly MenuEntry[] = [
  {
    path: '/order',
    group: 'order',
    title: { en: 'Orders', 'zh-CN': '订单管理', key: 'menu.order' },
    icon: 'shopping-cart',
    sort: 20,
    pages: [
      {
        path: '/order/list',
        needs: 'GET /orders',
        sort: 10,
        title: { en: 'Order List', 'zh-CN': '订单列表', key: 'menu.order.list' },
      },
    ],
  },
];
