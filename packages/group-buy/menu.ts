import { activityMenu } from '@tradepost/activities';
import { groupBuyKind } from './group-buy-kind.ts';

export const groupBuyMenu = activityMenu(groupBuyKind, {
  menu: { en: 'Group Buys', 'zh-CN': '拼团' },
  activities: { en: 'Group Buys', 'zh-CN': '拼团活动' },
  products: { en: 'Group Buy Products', 'zh-CN': '拼团商品' },
  place: 1,
});
