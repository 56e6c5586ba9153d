import { type Admitted, dimensionName, type Refused, windowMs } from '@tradepost/rate-limiter';
import { FastResponse } from 'srvx';
import { errorBody } from '../messages/openai-errors.ts';

export type HeaderList = [string, string][];

/** Sent with every answer, so that clients on another origin can read it. */
export const commonHeaders: readonly [string, string][] = [
  ['access-control-allow-origin', '*'],
  [
    'access-control-expose-headers',
    'X-Request-Id, X-Upstream-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Retry-After-Ms, X-Should-Retry',
  ],
];

export const jsonType: [string, string] = ['content-type', 'application/json; charset=utf-8'];

const unixSeconds = (ms: number) => String(Math.ceil(ms / 1000));

/**
 * The headers of a 429. `X-RateLimit-Reset` is the time when the same request would pass. For a request that can never pass it is
 * the end of the window, and `x-should-retry: false` keeps clients from retrying.
 */
export function refusalHeaders(refused: Refused, now = Date.now()): HeaderList {
  const { waitMs, limit } = refused;
  const headers: HeaderList = [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', '0'],
    ['X-RateLimit-Reset', unixSeconds(now + (waitMs ?? windowMs))],
  ];
  if (waitMs === null) headers.push(['x-should-retry', 'false']);
  else
    headers.push(
      ['Retry-After', String(Math.max(1, Math.ceil(waitMs / 1000)))],
      ['retry-after-ms', String(Math.ceil(waitMs))],
    );
  return headers;
}

/** `tokens`: the cost of the request; null when counting stopped above the limit. */
export function refusalMessage({ dimension, limit, waitMs }: Refused, tokens: number | null): string {
  const message = `rate limit exceeded: ${dimensionName(dimension)}`;
  if (waitMs !== null) return message;
  return `${message} (the request costs ${tokens ?? `more than ${limit}`} tokens, the limit is ${limit} per minute)`;
}

export function refusalResponse(refused: Refused, traceId: string, tokens: number | null = 0): Response {
  const code = 'rate_limit_exceeded';
  const body = errorBody({ status: 429, type: code, code, message: refusalMessage(refused, tokens) });
  const headers: HeaderList = [jsonType, ['x-request-id', traceId], ...commonHeaders, ...refusalHeaders(refused)];
  return new FastResponse(body, { status: 429, headers });
}

/** Adds what is left of the tightest dimension to the headers of an admitted request. */
export function pushRateHeaders(headers: HeaderList, { tightest }: Admitted, now = Date.now()): void {
  if (!tightest) return;
  headers.push(
    ['X-RateLimit-Limit', String(tightest.limit)],
    ['X-RateLimit-Remaining', String(tightest.remaining)],
    ['X-RateLimit-Reset', unixSeconds(now + tightest.resetMs)],
  );
}
