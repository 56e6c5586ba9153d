import { bit, id, idOrZero, lineText, requiredText, timestamp } from '@tradepost/http';
import { inboxGroups } from '@tradepost/module';
import { z } from 'zod';
import { maxContent, maxStoredContent, maxStoredTitle, maxTitle } from './limits.ts';
import { priorities } from './messages/message.ts';

/** A group, or nothing for all groups. */
export const groupFilter = z
  .enum(inboxGroups)
  .optional()
  .meta({ examples: ['order'] });

export const unreadCounts = z.object(
  Object.fromEntries(inboxGroups.map((group) => [group, z.int().min(0)])) as Record<
    (typeof inboxGroups)[number],
    z.ZodInt
  >,
);

export const inboxMessageSchema = z.object({
  id: id(),
  user_id: idOrZero().describe('0: a message to all shoppers'),
  group: z.enum(inboxGroups),
  priority: z.enum(priorities),
  title: z
    .string()
    .max(maxStoredTitle)
    .meta({ examples: ['Order paid'] }),
  content: z
    .string()
    .max(maxStoredContent)
    .meta({ examples: ['We have received your payment of 12.90.'] }),
  is_read: bit(),
  data: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe('the ids of what an event was about, such as order_id and order_no')
    .meta({ maxProperties: 20, examples: [{ order_id: 1 }] }),
  created_at: timestamp(),
});

export const adminMessageSchema = inboxMessageSchema.extend({
  is_read: bit().describe('1: staff have opened it, or it is about an event'),
  read_by_user: bit().describe('1: the shopper has read it; always 0 for a message to all'),
  user_nickname: z.string(),
});

export const sendBody = z.object({
  user_id: idOrZero().default(0).describe('0 or absent: all shoppers'),
  group: z.enum(inboxGroups).default('system'),
  priority: z.enum(priorities).default('normal'),
  title: lineText(maxTitle)
    .min(1)
    .meta({ examples: ['New opening hours'] }),
  content: requiredText(maxContent).meta({ examples: ['From May on we ship on Saturdays too.'] }),
});
