import type { MenuEntry } from '@tradepost/module';

export const backofficeMenu: readonly MenuEntry[] = [
  {
    path: '/system',
    group: 'system',
    title: { en: 'System', 'zh-CN': '系统设置' },
    icon: 'settings',
    sort: 90,
    pages: [
      {
        path: '/system/site',
        needs: 'GET /site-settings',
        sort: 10,
        title: { en: 'Site Settings', 'zh-CN': '站点设置' },
      },
      {
        path: '/system/config',
        needs: 'GET /config/schemas',
        sort: 20,
        title: { en: 'Configuration', 'zh-CN': '系统配置' },
      },
    ],
  },
];
