import type { Module } from '@tradepost/module';

/** The simulated carrier services for development. It adds one command, and nothing to the server. */
export const carrierSimulatorModule: Module = {
  name: 'carrier-simulator',
  needs: ['fulfilment'],
};
