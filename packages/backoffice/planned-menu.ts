import type { MenuEntry, MenuPage, MenuTitle } from '@tradepost/module';

const page = (path: string, needs: string, sort: number, title: MenuTitle): MenuPage => ({ path, needs, sort, title });

/**
 * Menus and pages that the console has and that no package serves yet. A package that serves one of them declares it in
 * its own module.
 */
export const plannedMenu: readonly MenuEntry[] = [
  {
    path: '/im',
    group: 'user',
    title: { en: 'Customer Service', 'zh-CN': '客服', key: 'menu.im' },
    icon: 'message-circle',
    sort: 60,
    pages: [
      page('/im/sessions', 'GET /im/sessions', 10, { en: 'Sessions', 'zh-CN': '会话', key: 'menu.im.sessions' }),
      page('/im/analytics', 'GET /im/analytics', 20, {
        en: 'Analytics',
        'zh-CN': '客服统计',
        key: 'menu.im.analytics',
      }),
      page('/im/logs', 'GET /im/logs', 30, { en: 'Logs', 'zh-CN': '日志', key: 'menu.im.logs' }),
      page('/im/staff-manage', 'GET /im/staff', 40, { en: 'Staff', 'zh-CN': '客服人员', key: 'menu.im.staffManage' }),
      page('/im/knowledge', 'GET /im/knowledge', 50, {
        en: 'Knowledge Base',
        'zh-CN': '知识库',
        key: 'menu.im.knowledge',
      }),
      page('/im/auto-reply', 'GET /im/auto-replies', 60, {
        en: 'Auto Replies',
        'zh-CN': '自动回复',
        key: 'menu.im.autoReply',
      }),
    ],
  },
];
