import { id, idOrZero, pageQueryWith, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { attemptStatuses } from './attempt.ts';

/** The fields that every attempt begins with. `name` is an example of the name of an activity. */
export const offerFields = (name: string) => ({
  id: id(),
  activity_id: id(),
  activity_product_id: id().meta({ description: 'the row of the activity, for the lines of orders' }),
  activity_name: z.string().meta({ examples: [name] }),
  product_id: id(),
  sku_id: idOrZero().meta({ description: '0: any SKU of the product' }),
});

export const progressFields = {
  status: z.enum(attemptStatuses),
  status_label: z.string().meta({ examples: ['Pending'] }),
  expire_at: timestamp(),
  created_at: timestamp(),
  ended_at: timestamp().nullable().meta({ description: 'the success or the failure' }),
};

export const ownNickname = () => z.string().meta({ examples: ['Ann'] });
export const productTitle = () => z.string().meta({ examples: ['Enamel mug'] });
export const maskedName = (example: string) =>
  z.string().meta({ description: 'of other shoppers only the first character', examples: [example] });

/** The body that opens an attempt. `example` has ids of the demo shop. */
export const openAttemptBody = (example: { activity_id: number; product_id: number; sku_id: number }) =>
  z.object({
    activity_id: id().meta({ examples: [example.activity_id] }),
    product_id: id().meta({ examples: [example.product_id] }),
    sku_id: idOrZero()
      .default(0)
      .meta({ description: '0: the row of the product in the activity', examples: [example.sku_id] }),
  });

export const attemptQuery = pageQueryWith({
  activity_id: idOrZero().optional(),
  status: z
    .enum([...attemptStatuses, '-1'])
    .optional()
    .meta({ description: '-1: all', examples: ['pending'] }),
});
