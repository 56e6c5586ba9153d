import { id, pageQueryWith, requiredText, text, timestamp } from '@tradepost/http';
import { keyKinds } from '@tradepost/rate-limiter';
import { z } from 'zod';
import { maxLimit, tokenStatuses } from './tokens/api-token.ts';

const limitOf = (unit: string) =>
  z
    .int()
    .min(0)
    .max(maxLimit)
    .nullable()
    .meta({ description: `${unit}; null inherits, 0 is unlimited`, examples: [600] });
const limits = {
  rpm_limit: limitOf('requests per minute').optional(),
  tpm_limit: limitOf('tokens per minute').optional(),
};
const name = () =>
  text(100)
    .trim()
    .meta({ description: 'a name to recognize it by', examples: ['Production'] });
const expiry = () =>
  text(64)
    .trim()
    .nullable()
    .optional()
    .meta({
      description:
        'time of expiry; without an offset in the time zone of the shop; a date includes the whole day; null: never',
      examples: ['2099-12-31T23:59:59+08:00'],
    });

export const tokenQuery = pageQueryWith({
  user_id: id().optional(),
  status: z.enum(tokenStatuses).optional(),
  keyword: text(100)
    .trim()
    .optional()
    .meta({ description: 'part of the name or of the prefix', examples: ['Prod'] }),
});
export const tokenCreateBody = z.object({
  user_id: id().meta({ description: 'the shopper who owns the token' }),
  name: name().optional(),
  ...limits,
  expires_at: expiry(),
});
export const tokenUpdateBody = z.object({ name: name().optional(), ...limits, expires_at: expiry() });

/** A week. Two valid secrets for longer would be a risk. */
export const maxGraceSeconds = 7 * 24 * 3600;
export const rotateBody = z.object({
  grace_seconds: z
    .int()
    .min(0)
    .max(maxGraceSeconds)
    .optional()
    .meta({
      description: 'seconds in which the previous secret stays valid; default: it ends at once',
      examples: [3600],
    }),
});
export const userLimitsBody = z.object(limits);

const moment = () => timestamp().nullable();
const inForce = (unit: string) => z.int().meta({ description: `${unit} in force; 0 is unlimited`, examples: [600] });

export const tokenView = z
  .object({
    id: id(),
    user_id: id(),
    nickname: z.string().meta({ description: 'nickname of the shopper', examples: ['Demo'] }),
    name: z.string().meta({ examples: ['Production'] }),
    prefix: z.string().meta({ description: 'beginning of the secret', examples: ['tp-4fK9aQ2z'] }),
    status: z.enum(tokenStatuses),
    rpm_limit: limitOf('requests per minute'),
    tpm_limit: limitOf('tokens per minute'),
    effective: z
      .object({
        user_rpm: inForce('requests per minute of the user over all tokens'),
        user_tpm: inForce('tokens per minute of the user over all tokens'),
        token_rpm: inForce('requests per minute of the token'),
        token_tpm: inForce('tokens per minute of the token'),
      })
      .meta({ description: 'all limits apply, so the stricter one decides' }),
    expires_at: moment(),
    revoked_at: moment(),
    last_used_at: moment().meta({ description: 'with an accuracy of a minute' }),
    previous_until: moment().meta({ description: 'until then the secret before the last rotation is valid' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'ApiToken' });

export const tokenSecretView = tokenView
  .extend({
    secret: z.string().meta({
      description: 'shown in this answer only; sent as `Authorization: Bearer`',
      examples: [`tp-${'4fK9aQ2z'.repeat(6)}`],
    }),
  })
  .meta({ id: 'ApiTokenSecret' });

export const tokenChangeView = z
  .object({
    id: id(),
    token_id: id().nullable().meta({ description: 'null for a change of the limits of the user' }),
    user_id: id(),
    action: z.enum(['create', 'update', 'revoke', 'rotate', 'user_limits']),
    details: z
      .record(z.string(), z.unknown())
      .meta({ examples: [{ before: { rpm_limit: null }, after: { rpm_limit: 600 } }] }),
    changed_by: z.string().meta({ examples: ['admin:1'] }),
    changed_at: timestamp(),
  })
  .meta({ id: 'ApiTokenChange' });

export const userLimitsView = z
  .object({
    user_id: id(),
    rpm_limit: limitOf('requests per minute'),
    tpm_limit: limitOf('tokens per minute'),
    effective: z.object({
      user_rpm: inForce('requests per minute'),
      user_tpm: inForce('tokens per minute'),
    }),
  })
  .meta({ id: 'UserRateLimit' });

export const settingParams = z.object({
  key: requiredText(200).meta({
    description: '`ratelimit.user_default_rpm` for one setting, `ratelimit.*` (or `ratelimit`) for all of them',
    examples: ['ratelimit.*'],
  }),
});
/** The limiter has fewer settings. */
export const maxSettings = 100;
/** The names are those of the settings. Unknown names are refused, not ignored. */
export const settingBody = z
  .record(z.string().max(200), z.unknown())
  .refine((body) => Object.keys(body).length <= maxSettings, { error: `must be at most ${maxSettings} settings` })
  .meta({ maxProperties: maxSettings, examples: [{ user_default_rpm: 120, user_default_tpm: 200_000 }] });

const settingValue = () => z.union([z.int(), z.boolean(), z.null()]).meta({ examples: [60] });
export const settingView = z
  .object({
    key: z.string().meta({ examples: ['ratelimit.user_default_rpm'] }),
    value: settingValue(),
    default: settingValue(),
    source: z.enum(['default', 'table', 'file']),
    about: z.string().meta({ examples: ['requests per minute of a user; 0 is unlimited'] }),
  })
  .meta({ id: 'RateLimitSetting' });
export const settingChangeView = z
  .object({
    id: id(),
    key: z.string().meta({ examples: ['ratelimit.user_default_rpm'] }),
    before: z.unknown().meta({ description: 'null: the default', examples: [null] }),
    after: z.unknown().meta({ description: 'null: the default', examples: [120] }),
    changed_by: z.string().meta({ examples: ['admin:1'] }),
    changed_at: timestamp(),
  })
  .meta({ id: 'RateLimitSettingChange' });
export const pageQuery = pageQueryWith({});

export const currentUsageQuery = z.object({
  kind: z.enum(keyKinds).meta({ examples: ['model'] }),
  key: requiredText(200).meta({
    description: 'id of the user or token, name of the model, or an address (also its key, `203.0.113`)',
    examples: ['gpt-4o-mini'],
  }),
});
const nullableCount = (description: string) =>
  z
    .int()
    .nullable()
    .meta({ description, examples: [60] });
export const currentUsageView = z
  .object({
    kind: z.enum(keyKinds),
    key: z.string().meta({ examples: ['gpt-4o-mini'] }),
    requests: z.int().meta({ description: 'within the last 60 seconds' }),
    tokens: z.int(),
    limits: z.object({ rpm: nullableCount('null: unlimited'), tpm: nullableCount('null: unlimited') }),
    remaining: z.object({ rpm: nullableCount('null: unlimited'), tpm: nullableCount('null: unlimited') }),
    oldest_leaves_ms: z
      .int()
      .nullable()
      .meta({ description: 'time until the oldest request no longer counts', examples: [41_250] }),
  })
  .meta({ id: 'RateLimitUsage' });
export const resetView = z.object({
  reset: z.int().meta({ description: 'logs that were reset: 1, or 0 when there was no log' }),
});
