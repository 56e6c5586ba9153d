import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'completion',
    sort: 610,
    description: 'print a script that lets a shell complete the commands, options and values of tradepost',
    load: () => import('../completion/completion.ts'),
  },
];
