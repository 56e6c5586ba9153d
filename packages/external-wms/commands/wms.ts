import type { ModuleCommand } from '@tradepost/module';
import { addDeliver } from './deliver.ts';
import { addPing } from './ping.ts';
import { addReplay } from './replay.ts';
import { addTasks } from './tasks.ts';

export const wmsCommand: ModuleCommand = {
  name: 'wms',
  sort: 230,
  register(program, context) {
    const group = program
      .command('wms')
      .description('the external warehouse: tasks, deliveries, callbacks, ping and simulator');
    addTasks(group, context);
    addDeliver(group, context);
    addPing(group, context);
    addReplay(group, context);
  },
};
