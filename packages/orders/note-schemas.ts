import { id, requiredText, timestamp } from '@tradepost/http';
import { z } from 'zod';

export const noteContent = requiredText(500).meta({ examples: ['Asked for gift wrapping'] });
export const noteVisibility = z.enum(['merchant_only']).default('merchant_only');
export const notesView = z.array(
  z.object({ id: id(), content: z.string(), visible_to: z.string(), created_at: timestamp() }),
);
