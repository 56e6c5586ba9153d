import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'inbox',
    sort: 140,
    description: 'inbox messages of shoppers: send, list, templates',
    load: () => import('./inbox.ts'),
  },
];
