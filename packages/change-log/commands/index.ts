import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'changes',
    sort: 505,
    description: 'the change log: what administrators and operators changed',
    load: () => import('./changes.ts'),
  },
];
