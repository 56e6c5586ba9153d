import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

export const stockLow = defineEvent({
  name: 'stock.low',
  about: 'a SKU on sale has little stock left to sell; once until its stock is above the limit again',
  data: z.object({
    sku_id: z.number(),
    product_id: z.number(),
    title: z.string().describe('the product and its variant'),
    stock: z.number().describe('the stock that can be sold'),
    threshold: z.number().describe('the safety stock of the SKU, or the limit of all products'),
  }),
  subject: ({ sku_id }) => `sku:${sku_id}`,
});
