import { id, list, requiredText, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxNotes } from '../../limits.ts';

export const noteContent = requiredText(500).meta({ examples: ['Asked for gift wrapping'] });
export const noteVisibility = z.enum(['merchant_only']).default('merchant_only');
export const notesView = list(
  z.object({ id: id(), content: z.string(), visible_to: z.string(), created_at: timestamp() }),
  maxNotes,
);
