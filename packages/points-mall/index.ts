export { pointsMallModule } from './module.ts';
