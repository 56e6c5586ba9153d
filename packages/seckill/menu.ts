import { activityMenu } from '@tradepost/activities';
import { seckillKind } from './seckill-kind.ts';

export const seckillMenu = activityMenu(seckillKind, {
  menu: { en: 'Flash Sales', 'zh-CN': '秒杀' },
  activities: { en: 'Flash Sales', 'zh-CN': '秒杀活动' },
  products: { en: 'Flash Sale Products', 'zh-CN': '秒杀商品' },
  place: 0,
});
