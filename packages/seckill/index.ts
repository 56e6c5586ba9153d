export { seckillModule } from './module.ts';
