import type { MenuEntry } from '@tradepost/module';

export const checkinMenu: readonly MenuEntry[] = [
  {
    path: '/checkin',
    group: 'user',
    title: { en: 'Check-in', 'zh-CN': '签到', key: 'menu.checkin' },
    icon: 'calendar',
    sort: 75,
    pages: [
      {
        path: '/checkin/rules',
        needs: 'GET /checkin/rules',
        sort: 10,
        title: { en: 'Check-in Rules', 'zh-CN': '签到规则', key: 'menu.checkin.rules' },
      },
      {
        path: '/checkin/logs',
        needs: 'GET /checkin/logs',
        sort: 20,
        title: { en: 'Check-in Logs', 'zh-CN': '签到记录', key: 'menu.checkin.logs' },
      },
    ],
  },
];
