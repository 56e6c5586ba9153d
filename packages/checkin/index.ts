export { checkinModule } from './module.ts';
