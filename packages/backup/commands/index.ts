import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'backup',
    sort: 535,
    description: 'backups of the shop: rows and uploaded files in a file, a folder or a bucket',
    load: () => import('./backup.ts'),
  },
];
