export { groupBuyModule } from './module.ts';
