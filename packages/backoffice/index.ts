export { backofficeModule } from './module.ts';
