import type { Module } from '@tradepost/module';

/** The simulated warehouse for development. It adds one command, and nothing to the server. */
export const warehouseSimulatorModule: Module = {
  name: 'warehouse-simulator',
  needs: ['external-wms'],
};
