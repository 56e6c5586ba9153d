export { fulfilmentModule } from './module.ts';
