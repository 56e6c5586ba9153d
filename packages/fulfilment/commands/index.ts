import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'shipments',
    sort: 221,
    description: 'shipments: sync with their carriers, events on the way, import',
    load: () => import('../carriers/commands/shipments.ts'),
  },
];
