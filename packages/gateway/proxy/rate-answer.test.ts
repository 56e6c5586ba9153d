import type { Refused } from '@tradepost/rate-limiter';
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
  for (const [waitMs, seconds, exact, reset] of [
    [1, '1', '1', '1700000001'],
    [749, '1', '749', '1700000001'],
    [751, '1', '751', '1700000002'],
    [1_000, '1', '1000', '1700000002'],
    [1_001, '2', '1001', '1700000002'],
    [59_999.2, '60', '60000', '1700000061'],
  ] as const)
    expect(headers(waitMs)).toEqual({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': reset,
      'retry-after': seconds,
      'retry-after-ms': exact,
    });
});

test('a request that can never pass says so and is not retried', async () => {
  expect(headers(null)).toEqual({
    'x-ratelimit-limit': '1000',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '1700000061',
    'x-should-retry': 'false',
  });
  expect(refusalMessage(refused(null), 5_000)).toBe(
    'rate limit exceeded: token TPM (the request costs 5000 tokens, the limit is 1000 per minute)',
  );
  const response = refusalResponse(refused(5), 'id-1');
  expect(response.status).toBe(429);
  expect(response.headers.get('x-request-id')).toBe('id-1');
  const said = { type: 'rate_limit_exceeded', code: 'rate_limit_exceeded', message: 'rate limit exceeded: token TPM' };
  expect(await response.json()).toEqual({ error: { ...said, param: null } });
});

test('an answer has the rate limit headers when a dimension is limited', () => {
  const all: [string, string][] = [];
  pushRateHeaders(all, { admitted: true, tightest: null, at: 0 }, now);
  expect(all).toEqual([]);
  const tightest = { dimension: 'user_rpm', limit: 60, remaining: 59, resetMs: 60_000 } as const;
  pushRateHeaders(all, { admitted: true, tightest, at: 0 }, now);
  expect(all).toEqual([
    ['X-RateLimit-Limit', '60'],
    ['X-RateLimit-Remaining', '59'],
    ['X-RateLimit-Reset', '1700000061'],
  ]);
});
