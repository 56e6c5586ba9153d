export { distributionModule } from './module.ts';
