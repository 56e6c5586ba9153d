import type { MenuEntry } from '@tradepost/module';

export const aiImageMenu: readonly MenuEntry[] = [
  {
    path: '/ai',
    group: 'system',
    title: { en: 'AI Images', 'zh-CN': 'AI 图片' },
    icon: 'star',
    sort: 85,
    pages: [
      { path: '/ai/tasks', needs: 'GET /ai/tasks', sort: 10, title: { en: 'Tasks', 'zh-CN': '生成任务' } },
      { path: '/ai/models', needs: 'GET /ai/models', sort: 20, title: { en: 'Models', 'zh-CN': '模型' } },
    ],
  },
];
