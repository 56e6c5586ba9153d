import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

export const shopperCheckedIn = defineEvent({
  name: 'shopper.checked_in',
  about: 'a shopper checked in for the day',
  data: z.object({
    checkin_id: z.number(),
    user_id: z.number().describe('the shopper'),
    date: z.string().describe('the day in the zone of the shop, such as 2026-03-01'),
    consecutive_days: z.number().describe('days in a row, with this one'),
    points: z.number().describe('points for this check-in'),
  }),
  subject: ({ user_id }) => `shopper:${user_id}`,
});
