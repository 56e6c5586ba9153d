import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'wms',
    sort: 230,
    description: 'the external warehouse: tasks, deliveries, callbacks, ping and simulator',
    load: () => import('./wms.ts'),
  },
];
