import type { RegisterCommand } from '@tradepost/module';
import { addDeliver } from './deliver.ts';
import { addPing } from './ping.ts';
import { addReplay } from './replay.ts';
import { addTasks } from './tasks.ts';

export const register: RegisterCommand = (group, context) => {
  addTasks(group, context);
  addDeliver(group, context);
  addPing(group, context);
  addReplay(group, context);
};
