import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'catalog',
    sort: 210,
    description: 'export and import the catalogue as a CSV file',
    load: () => import('./catalog.ts'),
  },
];
