import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'carriers',
    sort: 250,
    description: 'simulated carrier services for development',
    standalone: true,
    load: () => import('./carriers.ts'),
  },
];
