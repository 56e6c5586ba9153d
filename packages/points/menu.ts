import type { MenuEntry } from '@tradepost/module';

/** Its pages in the menu of the points mall. */
export const pointsMenu: readonly MenuEntry[] = [
  {
    path: '/points-mall',
    group: 'marketing',
    title: { en: 'Points Mall', 'zh-CN': '积分商城', key: 'menu.pointsMall' },
    icon: 'award',
    sort: 50,
    pages: [
      {
        path: '/points-mall/logs',
        needs: 'GET /points/logs',
        sort: 30,
        title: { en: 'Points Logs', 'zh-CN': '积分明细', key: 'menu.pointsLogs' },
      },
      {
        path: '/points-mall/stats',
        needs: 'GET /points/stats',
        sort: 40,
        title: { en: 'Statistics', 'zh-CN': '积分统计', key: 'menu.pointsStats' },
      },
      {
        path: '/points-mall/config',
        needs: 'GET /points/config',
        sort: 50,
        title: { en: 'Settings', 'zh-CN': '积分设置', key: 'menu.pointsConfig' },
      },
    ],
  },
];
