import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

export const reviewCreated = defineEvent({
  name: 'review.created',
  about: 'a shopper reviewed a line of an order',
  data: z.object({
    review_id: z.number(),
    order_id: z.number(),
    order_no: z.string(),
    order_item_id: z.number(),
    product_id: z.number(),
    user_id: z.number().describe('the shopper'),
    product_score: z.number(),
    logistics_score: z.number(),
  }),
  // Reviews can complete an order, so they are in order with its other events.
  subject: ({ order_id }) => `order:${order_id}`,
});
