import type { Command } from 'commander';
import { addDeliver } from './wms-deliver.ts';
import { addPing } from './wms-ping.ts';
import { addReplay } from './wms-replay.ts';
import { addSimulate } from './wms-simulate.ts';
import { addTasks } from './wms-tasks.ts';

export function addWms(program: Command): void {
  const group = program
    .command('wms')
    .description('the external warehouse: tasks, deliveries, callbacks, a ping and a simulator');
  addTasks(group);
  addDeliver(group);
  addPing(group);
  addReplay(group);
  addSimulate(group);
}
