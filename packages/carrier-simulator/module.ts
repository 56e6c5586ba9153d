import type { Module } from '@tradepost/module';
import { carriersCommand } from './commands/carriers.ts';

/** The simulated carrier services for development. It adds one command, and nothing to the server. */
export const carrierSimulatorModule: Module = {
  name: 'carrier-simulator',
  needs: ['fulfilment'],
  commands: [carriersCommand],
};
