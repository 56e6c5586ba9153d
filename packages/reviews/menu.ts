import type { MenuEntry } from '@tradepost/module';

export const reviewMenu: readonly MenuEntry[] = [
  {
    path: '/review',
    group: 'product',
    title: { en: 'Reviews', 'zh-CN': '评价管理', key: 'menu.review' },
    icon: 'star',
    sort: 21,
    pages: [
      {
        path: '/review/list',
        needs: 'GET /reviews',
        sort: 10,
        title: { en: 'Review List', 'zh-CN': '评价列表', key: 'menu.review.list' },
      },
    ],
  },
];
