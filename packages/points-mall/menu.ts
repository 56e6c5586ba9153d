import type { MenuEntry } from '@tradepost/module';

/** Its pages in the menu of the points, which the package points declares. */
export const mallMenu: readonly MenuEntry[] = [
  {
    path: '/points-mall',
    pages: [
      {
        path: '/points-mall/products',
        needs: 'GET /points/products',
        sort: 10,
        title: { en: 'Products', 'zh-CN': '积分商品', key: 'menu.pointsProducts' },
      },
      {
        path: '/points-mall/exchanges',
        needs: 'GET /points/exchanges',
        sort: 20,
        title: { en: 'Exchanges', 'zh-CN': '兑换记录', key: 'menu.pointsExchanges' },
      },
    ],
  },
];
