import type { MenuEntry } from '@tradepost/module';

export const identityMenu: readonly MenuEntry[] = [
  {
    path: '/system',
    pages: [
      { path: '/system/admins', needs: 'GET /admins', sort: 30, title: { en: 'Admins', 'zh-CN': '管理员' } },
      { path: '/system/roles', needs: 'GET /roles', sort: 40, title: { en: 'Roles', 'zh-CN': '角色' } },
    ],
  },
];
