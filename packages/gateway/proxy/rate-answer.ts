import { type Admitted, dimensionName, type Refused, windowMs } from '@tradepost/rate-limiter';
import { FastResponse } from 'srvx';
import { errorBody } from '../messages/openai-errors.ts';

export type HeaderList = [string, string][];

/** A client on another origin reads these; sent with every answer. */
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
 * 429. `X-RateLimit-Reset` is when the same request would pass; of one that never will it is when the window is empty at the
 * latest, and `x-should-retry: false` keeps clients from trying.
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

/** `tokens`: what the request would have been charged; null where they were counted only until they were too many. */
export function refusalMessage({ dimension, limit, waitMs }: Refused, tokens: number | null): string {
  const said = `rate limit exceeded: ${dimensionName(dimension)}`;
  if (waitMs !== null) return said;
  return `${said} (the request costs ${tokens ?? `more than ${limit}`} tokens, the limit is ${limit} per minute)`;
}

export function refusalResponse(refused: Refused, traceId: string, tokens: number | null = 0): Response {
  const code = 'rate_limit_exceeded';
  const body = errorBody({ status: 429, type: code, code, message: refusalMessage(refused, tokens) });
  const headers = [jsonType, ['x-request-id', traceId], ...commonHeaders, ...refusalHeaders(refused)] as HeaderList;
  return new FastResponse(body, { status: 429, headers });
}

/** What is left of the tightest dimension, on every answer that was let through. */
export function pushRateHeaders(headers: HeaderList, { tightest }: Admitted, now = Date.now()): void {
  if (!tightest) return;
  headers.push(
    ['X-RateLimit-Limit', String(tightest.limit)],
    ['X-RateLimit-Remaining', String(tightest.remaining)],
    ['X-RateLimit-Reset', unixSeconds(now + tightest.resetMs)],
  );
}
