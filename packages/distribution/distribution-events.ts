import { defineEvent, minorUnits } from '@tradepost/runtime';
import { z } from 'zod';

const withdrawalFacts = z.object({
  withdrawal_id: z.number(),
  distributor_id: z.number(),
  user_id: z.number().describe('the shopper who is the distributor'),
  amount: minorUnits('the withdrawal'),
  actual_amount: minorUnits('the withdrawal without its fee'),
});
export type WithdrawalFacts = z.infer<typeof withdrawalFacts>;

const subject = ({ withdrawal_id }: { withdrawal_id: number }) => `withdrawal:${withdrawal_id}`;
const withdrawalEvent = (name: string, about: string) =>
  defineEvent({ name: `distribution.withdrawal_${name}`, about, data: withdrawalFacts, subject });

export const withdrawalRequested = withdrawalEvent('requested', 'a distributor asked for a withdrawal');
export const withdrawalApproved = withdrawalEvent('approved', 'the merchant approved a withdrawal');
export const withdrawalCompleted = withdrawalEvent('completed', 'a withdrawal was paid');
export const withdrawalRejected = defineEvent({
  name: 'distribution.withdrawal_rejected',
  about: 'the merchant rejected a withdrawal; its amount is available again',
  data: withdrawalFacts.extend({ reason: z.string() }),
  subject,
});

export const distributorApproved = defineEvent({
  name: 'distribution.distributor_approved',
  about: 'a shopper has become a distributor',
  data: z.object({ distributor_id: z.number(), user_id: z.number().describe('the shopper') }),
  subject: ({ distributor_id }) => `distributor:${distributor_id}`,
});

export const distributionEvents = [
  ...[distributorApproved, withdrawalRequested, withdrawalApproved],
  ...[withdrawalCompleted, withdrawalRejected],
];
