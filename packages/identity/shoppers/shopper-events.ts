import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

export const shopperDeleted = defineEvent({
  name: 'shopper.deleted',
  about: 'a shopper deleted the account; packages delete what they store about the shopper',
  data: z.object({ user_id: z.number().describe('the shopper') }),
  subject: ({ user_id }) => `shopper:${user_id}`,
});
