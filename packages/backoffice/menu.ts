import type { MenuEntry } from '@tradepost/module';

export const backofficeMenu: readonly MenuEntry[] = [
  {
    // Several packages add their pages: coupons, flash sales, group buys, bargains. Each of them can be switched off.
    path: '/marketing',
    group: 'marketing',
    title: { en: 'Marketing', 'zh-CN': '营销活动', key: 'menu.marketing' },
    icon: 'tag',
    sort: 40,
    pages: [],
  },
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
