import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'simulate',
    group: 'wms',
    sort: 240,
    description: 'run a simulated external warehouse for development and tests, with faults if you want them',
    standalone: true,
    load: () => import('./simulate.ts'),
  },
];
