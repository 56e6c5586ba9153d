import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'storage',
    sort: 526,
    description: 'uploaded files: remove unreferenced ones',
    load: () => import('./storage.ts'),
  },
];
