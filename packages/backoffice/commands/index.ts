import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'announcements',
    sort: 135,
    description: 'announcements for the staff of the shop: list, create, edit, withdraw',
    load: () => import('./announcements.ts'),
  },
];
