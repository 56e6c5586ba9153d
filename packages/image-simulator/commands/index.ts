import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'simulate',
    group: 'ai',
    sort: 306,
    description: 'run simulated image services, with faults if you want them',
    standalone: true,
    load: () => import('./simulate.ts'),
  },
];
