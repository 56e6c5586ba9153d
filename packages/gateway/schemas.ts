import { id, pageQueryWith, requiredText, text, timestamp } from '@tradepost/http';
import { keyKinds } from '@tradepost/rate-limiter';
import { z } from 'zod';
import { maxLimit, tokenStatuses } from './tokens/api-token.ts';

const limitOf = (what: string) =>
  z
    .int()
    .min(0)
    .max(maxLimit)
    .nullable()
    .meta({ description: `${what}; null inherits, 0 is unlimited`, examples: [600] });
const limits = {
  rpm_limit: limitOf('requests per minute').optional(),
  tpm_limit: limitOf('tokens per minute').optional(),
};
const name = () =>
  text(100)
    .trim()
    .meta({ description: 'for recognition', examples: ['Production'] });
const expiry = () =>
  text(64)
    .trim()
    .nullable()
    .optional()
    .meta({
      description: 'when it ends; without offset in the time of the shop, a date counts to its end; null: never',
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
  user_id: id().meta({ description: 'the shopper it belongs to' }),
  name: name().optional(),
  ...limits,
  expires_at: expiry(),
});
export const tokenUpdateBody = z.object({ name: name().optional(), ...limits, expires_at: expiry() });

/** A week: longer than that both secrets of a rotation should not live. */
export const maxGraceSeconds = 7 * 24 * 3600;
export const rotateBody = z.object({
  grace_seconds: z
    .int()
    .min(0)
    .max(maxGraceSeconds)
    .optional()
    .meta({ description: 'for so long the secret before is good too; default: it ends at once', examples: [3600] }),
});
export const userLimitsBody = z.object(limits);

const moment = () => timestamp().nullable();
const inForce = (what: string) => z.int().meta({ description: `${what} in force; 0 is unlimited`, examples: [600] });

export const tokenView = z
  .object({
    id: id(),
    user_id: id(),
    nickname: z.string().meta({ description: 'of the shopper', examples: ['Demo'] }),
    name: z.string().meta({ examples: ['Production'] }),
    prefix: z.string().meta({ description: 'how the secret begins', examples: ['tp-4fK9aQ2z'] }),
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
      .meta({ description: 'all of them hold, so the stricter decides' }),
    expires_at: moment(),
    revoked_at: moment(),
    last_used_at: moment().meta({ description: 'to the minute' }),
    previous_until: moment().meta({ description: 'until then the secret before the last rotation is good too' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'ApiToken' });

export const tokenSecretView = tokenView
  .extend({
    secret: z.string().meta({
      description: 'shown here and never again; sent as `Authorization: Bearer`',
      examples: [`tp-${'4fK9aQ2z'.repeat(6)}`],
    }),
  })
  .meta({ id: 'ApiTokenSecret' });

export const tokenChangeView = z
  .object({
    id: id(),
    token_id: id().nullable().meta({ description: 'null: the limits of the user' }),
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
/** More than there are settings of the limiter. */
export const maxSettings = 100;
/** Its names are those of the settings: what is unknown is refused instead of ignored. */
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

export const usageNowQuery = z.object({
  kind: z.enum(keyKinds).meta({ examples: ['model'] }),
  key: requiredText(200).meta({
    description: 'id of the user or token, name of the model, or an address (also its key, `203.0.113`)',
    examples: ['gpt-4o-mini'],
  }),
});
const unit = (what: string) =>
  z
    .int()
    .nullable()
    .meta({ description: what, examples: [60] });
export const usageNowView = z
  .object({
    kind: z.enum(keyKinds),
    key: z.string().meta({ examples: ['gpt-4o-mini'] }),
    requests: z.int().meta({ description: 'within the last 60 seconds' }),
    tokens: z.int(),
    limits: z.object({ rpm: unit('null: unlimited'), tpm: unit('null: unlimited') }),
    remaining: z.object({ rpm: unit('null: unlimited'), tpm: unit('null: unlimited') }),
    oldest_leaves_ms: z
      .int()
      .nullable()
      .meta({ description: 'when the first of them no longer counts', examples: [41_250] }),
  })
  .meta({ id: 'RateLimitUsage' });
export const resetView = z.object({
  reset: z.int().meta({ description: 'logs forgotten: 1, or 0 where there was none' }),
});
