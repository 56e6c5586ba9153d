export { imageSimulatorModule } from './module.ts';
export { demoImageKey, type ImageSimulator, openImageSimulator, type SimulatorOptions } from './simulator.ts';
