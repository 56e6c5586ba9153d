import { activityDemo } from '@tradepost/activities';
import { bargainKind } from './bargain-kind.ts';

export const bargainDemo = activityDemo(bargainKind, {
  name: 'Bargain with friends',
  rows: [
    { title: 'Village Casserole', percent: 50, limit_per_order: 1, total_stock_limit: 50 },
    { title: 'Tall Latte Mug', percent: 60, limit_per_order: 1, total_stock_limit: 0 },
  ],
});
