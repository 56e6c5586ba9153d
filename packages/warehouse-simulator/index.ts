export { type Behaviour, type BehaviourOptions, changedBehaviour } from './behaviour/behaviour.ts';
export type { Counters } from './counters.ts';
export { warehouseSimulatorModule } from './module.ts';
export { type LedgerView, openSimulator, type Simulator, type SimulatorOptions } from './simulator.ts';
