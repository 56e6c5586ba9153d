import { activityMenu } from '@tradepost/activities';
import { bargainKind } from './bargain-kind.ts';

export const bargainMenu = activityMenu(bargainKind, {
  menu: { en: 'Bargains', 'zh-CN': '砍价' },
  activities: { en: 'Bargains', 'zh-CN': '砍价活动' },
  products: { en: 'Bargain Products', 'zh-CN': '砍价商品' },
  place: 2,
});
