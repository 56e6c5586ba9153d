export type { Behaviour, BehaviourOptions } from './behaviour/behaviour.ts';
export { warehouseSimulatorModule } from './module.ts';
export { type LedgerView, openSimulator, type Simulator, type SimulatorOptions } from './simulator.ts';
