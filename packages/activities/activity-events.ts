import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';
import { activityTypes } from './activity-kinds.ts';

export const activitySoldOut = defineEvent({
  name: 'activity.sold_out',
  about: 'orders took the last pieces of a product of an activity; cancelled orders can give pieces back',
  data: z.object({
    activity_product_id: z.number(),
    activity_id: z.number(),
    activity_type: z.enum(activityTypes),
    activity_name: z.string(),
    product_id: z.number(),
    sku_id: z.number().describe('0: all SKUs of the product'),
    total_stock_limit: z.number().describe('the pieces that were sold'),
  }),
  subject: ({ activity_product_id }) => `activity_product:${activity_product_id}`,
});
