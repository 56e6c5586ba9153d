import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'analytics',
    sort: 217,
    description: 'numbers of the dashboard and the reports: rebuild',
    load: () => import('./analytics.ts'),
  },
];
