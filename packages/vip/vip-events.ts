import { defineEvent, minorUnits } from '@tradepost/runtime';
import { z } from 'zod';

const opened = z.object({
  purchase_id: z.number(),
  user_id: z.number().describe('the shopper'),
  plan_id: z.number(),
  plan_name: z.string(),
  months: z.number(),
  amount: minorUnits('what the shopper paid'),
  vip_end_at: z.string().describe('the end of the membership, ISO 8601'),
});
export type MembershipOpened = z.infer<typeof opened>;

export const membershipOpened = defineEvent({
  name: 'vip.opened',
  about: 'a membership was opened or extended',
  data: opened,
  subject: ({ user_id }) => `shopper:${user_id}`,
});
