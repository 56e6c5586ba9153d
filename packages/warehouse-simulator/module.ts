import type { Module } from '@tradepost/module';
import { simulateCommand } from './commands/simulate.ts';

/** The simulated warehouse for development. It adds one command, and nothing to the server. */
export const warehouseSimulatorModule: Module = {
  name: 'warehouse-simulator',
  needs: ['external-wms'],
  commands: [simulateCommand],
};
