import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'ai',
    sort: 305,
    description: 'pictures by AI services: the models that staff may use',
    load: () => import('./ai.ts'),
  },
];
