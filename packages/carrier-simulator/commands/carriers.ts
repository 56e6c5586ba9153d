import type { ModuleCommand } from '@tradepost/module';
import { addSimulate } from './simulate.ts';

export const carriersCommand: ModuleCommand = {
  name: 'carriers',
  sort: 250,
  register(program) {
    addSimulate(program.command('carriers').description('simulated carrier services for development'));
  },
};
