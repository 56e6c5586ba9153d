import type { Module } from '@tradepost/module';
import { simulateCommand } from './commands/simulate.ts';

/** The simulated image services for development. It adds one command, and nothing to the server. */
export const imageSimulatorModule: Module = {
  name: 'image-simulator',
  needs: ['ai-images'],
  commands: [simulateCommand],
};
