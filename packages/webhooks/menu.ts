import type { MenuEntry } from '@tradepost/module';

export const webhookMenu: readonly MenuEntry[] = [
  {
    path: '/system',
    pages: [
      {
        path: '/system/webhooks',
        needs: 'GET /webhooks/endpoints',
        sort: 60,
        title: { en: 'Webhooks', 'zh-CN': 'Webhook 推送' },
      },
    ],
  },
];
