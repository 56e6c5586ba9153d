import { activityDemo } from '@tradepost/activities';
import { groupBuyKind } from './group-buy-kind.ts';

export const groupBuyDemo = activityDemo(groupBuyKind, {
  name: 'Buy together',
  rows: [
    { title: 'Enamel Camp Mug', all_skus: true, percent: 80, limit_per_order: 5, total_stock_limit: 300 },
    { title: 'Oak Chopping Board', percent: 85, limit_per_order: 0, total_stock_limit: 0 },
  ],
});
