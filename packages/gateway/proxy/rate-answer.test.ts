import { type Refused, unlimitedAdmission } from '@tradepost/rate-limiter';
import { expect, test } from 'vitest';
import { pushRateHeaders, refusalHeaders, refusalMessage, refusalResponse } from './rate-answer.ts';

const refused = (waitMs: number | null): Refused => ({
  admitted: false,
  dimension: 'token_tpm',
  limit: 1_000,
  waitMs,
  denied: ['token_tpm'],
  at: 0,
});
const now = 1_700_000_000_250;
const headers = (waitMs: number | null) =>
  Object.fromEntries(refusalHeaders(refused(waitMs), now).map(([name, value]) => [name.toLowerCase(), value]));

test('a client that waits as long as the headers say passes, in both units', () => {
  for (const [waitMs, seconds, exact, reset, duration] of [
    [1, '1', '1', '1700000001', '1ms'],
    [749, '1', '749', '1700000001', '749ms'],
    [751, '1', '751', '1700000002', '751ms'],
    [1_000, '1', '1000', '1700000002', '1s'],
    [1_001, '2', '1001', '1700000002', '1.001s'],
    [59_999.2, '60', '60000', '1700000061', '1m0s'],
  ] as const)
    expect(headers(waitMs)).toEqual({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': reset,
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': duration,
      'retry-after': seconds,
      'retry-after-ms': exact,
    });
});

test('a request that can never pass says so and is not retried', async () => {
  expect(headers(null)).toEqual({
    'x-ratelimit-limit': '1000',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '1700000061',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '1m0s',
    'x-should-retry': 'false',
  });
  expect(refusalMessage(refused(null), { tokens: 5_000, assumed: null })).toBe(
    'rate limit exceeded: token TPM (the request costs 5000 tokens, the limit is 1000 per minute)',
  );
  const response = refusalResponse(refused(5), 'id-1');
  expect(response.status).toBe(429);
  expect(response.headers.get('x-request-id')).toBe('id-1');
  const said = { type: 'rate_limit_exceeded', code: 'rate_limit_exceeded', message: 'rate limit exceeded: token TPM' };
  expect(await response.json()).toEqual({ error: { ...said, param: null } });
});

test('a refusal says which tokens are charged for a missing maximum, so that a client can name one', () => {
  const assumed = { tokens: 1_024, field: 'max_tokens' };
  const why = 'the request costs 1032 tokens, 1024 of them because it has no max_tokens';
  expect(refusalMessage(refused(5), { tokens: 1_032, assumed })).toBe(`rate limit exceeded: token TPM (${why})`);
  expect(refusalMessage(refused(null), { tokens: 1_032, assumed })).toBe(
    `rate limit exceeded: token TPM (${why}, the limit is 1000 per minute)`,
  );
  const ofRequests = { ...refused(5), dimension: 'user_rpm' } as const;
  expect(refusalMessage(ofRequests, { tokens: 1_032, assumed })).toBe('rate limit exceeded: user RPM');
});

test('an answer has the rate limit headers when a dimension is limited', () => {
  const all: [string, string][] = [];
  pushRateHeaders(all, unlimitedAdmission, now);
  expect(all).toEqual([]);
  const requests = { dimension: 'user_rpm', limit: 60, remaining: 59, resetMs: 60_000 } as const;
  const tokens = { dimension: 'token_tpm', limit: 9_000, remaining: 8_990, resetMs: 7_660 } as const;
  const verdict = { tightest: requests, tightestRequests: requests, tightestTokens: tokens };
  pushRateHeaders(all, { admitted: true, ...verdict, at: 0 }, now);
  expect(all).toEqual([
    ['X-RateLimit-Limit', '60'],
    ['X-RateLimit-Remaining', '59'],
    ['X-RateLimit-Reset', '1700000061'],
    ['X-RateLimit-Limit-Requests', '60'],
    ['X-RateLimit-Remaining-Requests', '59'],
    ['X-RateLimit-Reset-Requests', '1m0s'],
    ['X-RateLimit-Limit-Tokens', '9000'],
    ['X-RateLimit-Remaining-Tokens', '8990'],
    ['X-RateLimit-Reset-Tokens', '7.66s'],
  ]);
});
