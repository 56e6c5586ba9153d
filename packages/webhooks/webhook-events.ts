import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

export const endpointDisabled = defineEvent({
  name: 'webhook.disabled',
  about: 'the shop disabled a webhook endpoint: it answered 410, or all attempts of some days failed',
  data: z.object({
    endpoint_id: z.number(),
    host: z.string().describe('the host of its URL'),
    reason: z.enum(['gone', 'dead']).describe('gone: HTTP 410; dead: only failures'),
  }),
  subject: ({ endpoint_id }) => `webhook:${endpoint_id}`,
});
