import { type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { gatewayRetentionSettings } from './retention.ts';
import { maxLimit } from './tokens/api-token.ts';
import { proxySettings } from './upstreams/upstream-settings.ts';

const limit = z
  .int('must be a whole number')
  .min(0, 'must be 0 (unlimited) or more')
  .max(maxLimit, `must be at most ${maxLimit}`);

/** The settings of the rate limiter. */
export const rateLimitSettings = {
  enabled: setting(
    'ratelimit.enabled',
    z.boolean('must be true or false'),
    true,
    'whether the gateway limits requests; false admits every request',
  ),
  user_default_rpm: setting('ratelimit.user_default_rpm', limit, 60, 'requests per minute of a user; 0 is unlimited'),
  user_default_tpm: setting(
    'ratelimit.user_default_tpm',
    limit,
    100_000,
    'tokens per minute of a user; 0 is unlimited',
  ),
  ip_rpm: setting(
    'ratelimit.ip_rpm',
    limit,
    600,
    'requests per minute of an address (IPv4: its /24, IPv6: its ipv6_prefix); 0 is unlimited',
  ),
  ipv6_prefix: setting(
    'ratelimit.ipv6_prefix',
    z.int('must be a whole number').min(16, 'must be at least 16').max(128, 'must be at most 128'),
    128,
    'bits of an IPv6 address that ip_rpm counts together; 128 is the full address, 64 the usual network of a customer',
  ),
  model_default_rpm: setting('ratelimit.model_default_rpm', limit, 0, 'requests per minute of a model; 0 is unlimited'),
  model_default_tpm: setting('ratelimit.model_default_tpm', limit, 0, 'tokens per minute of a model; 0 is unlimited'),
  store_deadline_ms: setting(
    'ratelimit.store_deadline_ms',
    z.int('must be a whole number').min(1, 'must be at least 1').max(10_000, 'must be at most 10000'),
    50,
    'deadline of the store of the limiter, in ms; after it a request is admitted unchecked',
  ),
  memory_mb: setting(
    'ratelimit.memory_mb',
    z.int('must be a whole number').min(1, 'must be at least 1').max(16_384, 'must be at most 16384'),
    256,
    'largest memory of the limiter without Redis, in MB; read at start',
  ),
} as const;

/** All settings of the package. */
export const gatewaySettings = [
  ...Object.values(rateLimitSettings),
  ...proxySettings,
  ...gatewayRetentionSettings,
] as readonly Setting[];
