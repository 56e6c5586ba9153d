import type { Module } from '@tradepost/module';

/** The simulated payment services for development. It adds one command, and nothing to the server. */
export const paymentSimulatorModule: Module = {
  name: 'payment-simulator',
  needs: ['orders'],
};
