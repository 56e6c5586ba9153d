export { vipModule } from './module.ts';
