import type { MenuEntry } from '@tradepost/module';

export const changeLogMenu: readonly MenuEntry[] = [
  {
    path: '/system',
    pages: [
      {
        path: '/system/change-log',
        needs: 'GET /change-log',
        sort: 50,
        title: { en: 'Change Log', 'zh-CN': '操作日志' },
      },
    ],
  },
];
