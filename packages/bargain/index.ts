export { bargainModule } from './module.ts';
