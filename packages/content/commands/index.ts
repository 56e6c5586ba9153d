import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'decor',
    sort: 216,
    description: 'decoration of pages: list, publish, rollback, export, import, remove',
    load: () => import('./decor.ts'),
  },
];
