export { carrierSimulatorModule } from './module.ts';
export { type CarrierSimulator, demoAccounts, openCarrierSimulator, type SimulatorOptions } from './simulator.ts';
