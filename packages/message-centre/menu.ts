import type { MenuEntry } from '@tradepost/module';

export const messageMenu: readonly MenuEntry[] = [
  {
    path: '/message',
    group: 'user',
    title: { en: 'Messages', 'zh-CN': '消息', key: 'menu.message' },
    icon: 'bell',
    sort: 80,
    pages: [
      {
        path: '/message/list',
        needs: 'GET /messages',
        sort: 10,
        title: { en: 'Message List', 'zh-CN': '消息列表', key: 'menu.message.list' },
      },
      {
        path: '/message/send',
        needs: 'POST /messages/send',
        sort: 20,
        title: { en: 'Send Message', 'zh-CN': '发送消息', key: 'menu.message.send' },
      },
    ],
  },
];
