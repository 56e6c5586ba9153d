export { messageCentreModule } from './module.ts';
