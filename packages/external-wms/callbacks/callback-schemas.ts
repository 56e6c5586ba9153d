import { isStorable, requiredText, text } from '@tradepost/http';
import { z } from 'zod';
import { callbackStatuses } from './callback-store.ts';

const sample =
  '{"request_id":"order:1772358600000000001:reserve","callback_id":"cb-1","status":"success","message":""}';

const maxInner = 60_000;

/** The largest lengths bound the rows that are stored. */
export const callbackBody = z.object({
  app_key: requiredText(200).meta({ examples: ['demo-key'] }),
  timestamp: z
    .union(
      [
        z
          .string()
          .max(12)
          .regex(/^\d{1,12}$/)
          .meta({ examples: ['1772358600'] }),
        z.int().min(0).max(999_999_999_999),
      ],
      { error: 'must be Unix seconds' },
    )
    .transform(String)
    .meta({ description: 'Unix seconds, as a text or a number', examples: ['1772358600'] }),
  nonce: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[^\p{Cc}\p{Surrogate}]*$/u)
    .meta({ description: 'a new one in every message', examples: ['9f2c1e7a'] }),
  sign: requiredText(200).meta({
    description: 'lowercase hex SHA-256 of app_key, LF, timestamp, LF, nonce, LF, body, LF, app_secret',
    examples: ['0'.repeat(64)],
  }),
  // The limit of the whole message refuses most larger bodies before this check.
  body: z
    .string()
    .min(1)
    .max(maxInner)
    .refine((value) => isStorable(value), { error: 'must not contain NUL or broken Unicode' })
    .meta({ description: 'the inner JSON as text: request_id, callback_id, status, message', examples: [sample] }),
});
export type CallbackBody = z.output<typeof callbackBody>;

export const callbackAnswer = z.object({ received: z.literal(true) });

const textOrNumber = (max: number) => z.union([text(max), z.int()]).transform((value) => String(value).trim());

/** The inner body. An unknown status means that the task continues. */
export const innerBody = z.object({
  request_id: textOrNumber(200).refine((id) => id !== '', { error: 'must not be empty' }),
  callback_id: textOrNumber(200).nullish(),
  status: z.enum(callbackStatuses).catch('processing'),
  message: z.unknown().optional(),
});
