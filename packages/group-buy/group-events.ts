import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

const memberFacts = z.object({
  group_order_id: z.number(),
  activity_id: z.number(),
  activity_name: z.string(),
  product_id: z.number(),
  sku_id: z.number().describe('0: any SKU of the product'),
  group_size: z.number(),
  joined_count: z.number(),
  user_id: z.number().describe('the member'),
  order_id: z.number().describe('the order of the member; 0 for a leader without an order'),
});
export type MemberFacts = z.infer<typeof memberFacts>;

const subject = ({ group_order_id }: MemberFacts) => `group_buy:${group_order_id}`;

export const groupSucceeded = defineEvent({
  name: 'group_buy.succeeded',
  about: 'a group of a group buy is complete; one event for each member',
  data: memberFacts,
  subject,
});
export const groupFailed = defineEvent({
  name: 'group_buy.failed',
  about: 'a group of a group buy was not complete in time; one event for each member',
  data: memberFacts,
  subject,
});

export const groupEvents = [groupSucceeded, groupFailed];
