import { defineEvent, minorUnits } from '@tradepost/runtime';
import { z } from 'zod';
import type { Bargain } from './bargain.ts';

const bargainFacts = z.object({
  bargain_order_id: z.number(),
  activity_id: z.number(),
  activity_name: z.string(),
  product_id: z.number(),
  sku_id: z.number().describe('0: any SKU of the product'),
  user_id: z.number().describe('the owner of the bargain'),
  current_price: minorUnits('the price that was reached'),
});
export type BargainFacts = z.infer<typeof bargainFacts>;

const subject = ({ bargain_order_id }: BargainFacts) => `bargain:${bargain_order_id}`;

export const bargainSucceeded = defineEvent({
  name: 'bargain.succeeded',
  about: 'a bargain has reached its floor price; its owner can buy at this price',
  data: bargainFacts,
  subject,
});
export const bargainFailed = defineEvent({
  name: 'bargain.failed',
  about: 'a bargain did not reach its floor price in time',
  data: bargainFacts,
  subject,
});

export const bargainEvents = [bargainSucceeded, bargainFailed];

export const factsOf = (bargain: Bargain): BargainFacts => {
  const { id, activity_id, activity_name, product_id, sku_id, owner_id, current_price } = bargain;
  return { bargain_order_id: id, activity_id, activity_name, product_id, sku_id, user_id: owner_id, current_price };
};
