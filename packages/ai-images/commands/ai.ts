import type { ModuleCommand } from '@tradepost/module';
import { addModels } from './models.ts';

export const aiCommand: ModuleCommand = {
  name: 'ai',
  sort: 305,
  register(program, context) {
    const group = program.command('ai').description('pictures by AI services: the models that staff may use');
    addModels(group, context);
  },
};
