import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'webhooks',
    sort: 245,
    description: 'events for other systems: endpoints, deliveries, replay',
    load: () => import('./webhooks.ts'),
  },
];
