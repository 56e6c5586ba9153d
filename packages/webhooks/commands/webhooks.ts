import type { ModuleCommand } from '@tradepost/module';
import { addDeliveries } from './deliveries.ts';
import { addEndpoints } from './endpoints.ts';

export const webhooksCommand: ModuleCommand = {
  name: 'webhooks',
  sort: 245,
  register(program, context) {
    const group = program.command('webhooks').description('events for other systems: endpoints, deliveries, replay');
    addEndpoints(group, context);
    addDeliveries(group, context);
  },
};
