import type { ActivityKind } from '@tradepost/activities';

export const seckillKind: ActivityKind = {
  type: 'seckill',
  path: 'seckill',
  label: { en: 'Flash sale', 'zh-CN': '秒杀' },
  tag: 'Flash sales',
  examples: { activity: 1, row: 1 },
  permissions: { view: 'seckill:view', edit: 'seckill:edit', remove: 'seckill:edit' },
  prices: 'fixed',
  priceAlias: 'seckill_price',
  options: [],
};
