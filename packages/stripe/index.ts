export { stripeModule } from './module.ts';
