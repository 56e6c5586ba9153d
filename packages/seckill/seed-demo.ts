import { activityDemo } from '@tradepost/activities';
import { seckillKind } from './seckill-kind.ts';

export const seckillDemo = activityDemo(seckillKind, {
  name: 'Kitchen flash sale',
  rows: [
    { title: 'Cast-Iron Skillet', all_skus: true, percent: 70, limit_per_order: 2, total_stock_limit: 200 },
    { title: 'Enamel Saucepan', percent: 75, limit_per_order: 2, total_stock_limit: 100 },
    { title: 'Whistling Kettle', percent: 80, limit_per_order: 0, total_stock_limit: 0 },
  ],
});
