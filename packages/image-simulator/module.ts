import type { Module } from '@tradepost/module';

/** The simulated image services for development. It adds one command, and nothing to the server. */
export const imageSimulatorModule: Module = {
  name: 'image-simulator',
  needs: ['ai-images'],
};
