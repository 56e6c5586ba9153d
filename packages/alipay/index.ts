export { alipayModule } from './module.ts';
