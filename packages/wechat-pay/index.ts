export { wechatPayModule } from './module.ts';
