import type { MenuEntry } from '@tradepost/module';

export const contentMenu: readonly MenuEntry[] = [
  {
    path: '/decor',
    group: 'product',
    title: { en: 'Page Designer', 'zh-CN': '页面装修', key: 'menu.decor' },
    icon: 'layout',
    sort: 70,
    pages: [
      {
        path: '/decor/index',
        needs: 'GET /decor/:',
        sort: 10,
        title: { en: 'Mobile', 'zh-CN': '移动端', key: 'menu.decor.editor' },
      },
      {
        path: '/decor/pc',
        needs: 'GET /decor/:',
        sort: 20,
        title: { en: 'PC', 'zh-CN': '电脑端' },
      },
    ],
  },
];
