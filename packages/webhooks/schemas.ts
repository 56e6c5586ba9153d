import { id, idOrZero, list, pageQueryWith, requiredText, timestamp, trimmedText } from '@tradepost/http';
import { z } from 'zod';
import { deliveryStatuses } from './deliveries/delivery.ts';
import {
  maxDescription,
  maxEndpoints,
  maxKinds,
  maxOverlapHours,
  maxReplayed,
  maxShownAttempts,
  maxUrl,
} from './limits.ts';

const url = () => requiredText(maxUrl).meta({ examples: ['https://erp.example/hooks/shop'] });
const kind = () => requiredText(100).meta({ examples: ['order.paid'] });
const moment = () => timestamp().nullable();

export const endpointBody = z.object({
  url: url(),
  description: trimmedText(maxDescription).default(''),
  event_kinds: list(kind(), maxKinds).default([]).meta({ description: 'empty: all kinds' }),
  enabled: z.boolean().default(true),
});
/** Absent fields stay. */
export const endpointChanges = z.object({
  url: url().optional(),
  description: trimmedText(maxDescription).optional(),
  event_kinds: list(kind(), maxKinds).optional().meta({ description: 'empty: all kinds' }),
  enabled: z.boolean().optional(),
});
export const rotateBody = z.object({
  overlap_hours: z
    .int()
    .min(0)
    .max(maxOverlapHours)
    .default(24)
    .meta({ description: 'hours for which the previous secret signs too; 0 ends it now', examples: [24] }),
});

export const endpointSchema = z
  .object({
    id: id(),
    url: z.string().meta({ examples: ['https://erp.example/hooks/shop'] }),
    description: z.string(),
    event_kinds: list(z.string(), maxKinds).meta({ description: 'empty: all kinds', examples: [['order.paid']] }),
    enabled: z.boolean(),
    disabled_reason: z.enum(['', 'gone', 'dead']).meta({
      description: 'why the shop disabled it: gone (HTTP 410), dead (only failures for days); empty when staff did',
    }),
    disabled_at: moment(),
    previous_secret_until: moment().meta({ description: 'until then the previous secret signs too' }),
    failing_since: moment().meta({ description: 'the first failure since the last success' }),
    last_success_at: moment(),
    waiting: z.int().meta({ description: 'deliveries that wait, counted up to 10000' }),
    failed: z.int().meta({ description: 'deliveries that have used all attempts, counted up to 10000' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'WebhookEndpoint' });
export const endpointList = z.object({ list: list(endpointSchema, maxEndpoints) });
export const endpointSecretSchema = z.object({
  ...endpointSchema.shape,
  secret: z.string().meta({ format: 'password', examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }),
});

export const kindList = z.object({
  list: list(
    z.object({
      name: z.string().meta({ examples: ['order.paid'] }),
      about: z.string(),
      schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of `data`' }),
    }),
    maxKinds,
  ),
});

export const attemptSchema = z.object({
  started_at: timestamp(),
  duration_ms: z.int(),
  status: z.int().meta({ description: 'the HTTP status; 0 without an answer', examples: [200] }),
  error: z.string().meta({ description: 'empty for a success' }),
  answer: z.string().meta({ description: 'the start of the answer' }),
});
export const deliverySchema = z
  .object({
    id: id(),
    endpoint_id: id(),
    webhook_id: z.string().meta({ description: 'the header webhook-id of each attempt', examples: ['evt_4711'] }),
    type: z.string().meta({ examples: ['order.paid'] }),
    subject: z.string().meta({ examples: ['order:12'] }),
    status: z.enum(deliveryStatuses),
    attempts: z.int(),
    next_attempt_at: moment().meta({ description: 'null when it has ended' }),
    last_status: z.int().meta({ description: '0 without an answer' }),
    last_error: z.string(),
    occurred_at: timestamp(),
    ended_at: moment(),
  })
  .meta({ id: 'WebhookDelivery' });
export const deliveryDetail = z.object({
  ...deliverySchema.shape,
  body: z.string().meta({ description: 'the body that is sent, as text' }),
  log: list(attemptSchema, maxShownAttempts).meta({ description: 'the newest attempts, the oldest first' }),
});
export const deliveryQuery = pageQueryWith({
  endpoint_id: idOrZero().optional(),
  status: z.enum(deliveryStatuses).optional(),
  type: trimmedText(100).optional(),
});

export const replayBody = z.object({
  failed: z.boolean().default(false).meta({ description: 'only deliveries that have used all attempts' }),
  since: trimmedText(40)
    .optional()
    .meta({ description: 'of events from this time on', examples: ['2026-03-01'] }),
  until: trimmedText(40)
    .optional()
    .meta({ description: 'of events before this time', examples: ['2026-03-02'] }),
  delivery_ids: list(id(), maxReplayed).default([]).meta({ description: 'only these' }),
  after_event_id: idOrZero()
    .default(0)
    .meta({ description: 'of later events than this one: `last_event_id` of the call before' }),
});
export const replayResult = z.object({
  replayed: z.int().max(maxReplayed),
  more: z.boolean().meta({ description: 'further deliveries may match: call again with `after_event_id`' }),
  last_event_id: z.int().meta({ description: 'the last event that was replayed; 0 without one' }),
});
