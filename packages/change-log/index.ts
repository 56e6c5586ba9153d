export { changeLogModule } from './module.ts';
