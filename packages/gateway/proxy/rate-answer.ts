import { type Admitted, dimensionName, type Refused, type Tightest, windowMs } from '@tradepost/rate-limiter';
import { FastResponse } from 'srvx';
import { errorBody } from '../messages/openai-errors.ts';

export type HeaderList = [string, string][];

/** Sent with every answer, so that clients on another origin can read it. */
export const commonHeaders: readonly [string, string][] = [
  ['access-control-allow-origin', '*'],
  [
    'access-control-expose-headers',
    [
      'X-Request-Id, X-Upstream-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
      'X-RateLimit-Limit-Requests, X-RateLimit-Remaining-Requests, X-RateLimit-Reset-Requests',
      'X-RateLimit-Limit-Tokens, X-RateLimit-Remaining-Tokens, X-RateLimit-Reset-Tokens',
      'Retry-After, Retry-After-Ms, X-Should-Retry',
    ].join(', '),
  ],
];

export const jsonType: [string, string] = ['content-type', 'application/json; charset=utf-8'];

const unixSeconds = (ms: number) => String(Math.ceil(ms / 1000));

/** A duration in the form of OpenAI's headers: `120ms`, `7.66s`, `1m0s`. */
function duration(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms));
  if (whole < 1_000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  const seconds = (whole % 60_000) / 1_000;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

const isOfTokens = (dimension: Refused['dimension']) => dimension.endsWith('_tpm');

/** The headers of the requests dimensions, and those of the tokens dimensions. */
const unitHeaders = {
  requests: ['X-RateLimit-Limit-Requests', 'X-RateLimit-Remaining-Requests', 'X-RateLimit-Reset-Requests'],
  tokens: ['X-RateLimit-Limit-Tokens', 'X-RateLimit-Remaining-Tokens', 'X-RateLimit-Reset-Tokens'],
} as const;

function pushUnit(headers: HeaderList, unit: keyof typeof unitHeaders, left: Omit<Tightest, 'dimension'>): void {
  const [limit, remaining, reset] = unitHeaders[unit];
  headers.push([limit, String(left.limit)], [remaining, String(left.remaining)], [reset, duration(left.resetMs)]);
}

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
  const unit = isOfTokens(refused.dimension) ? 'tokens' : 'requests';
  pushUnit(headers, unit, { limit, remaining: 0, resetMs: waitMs ?? windowMs });
  if (waitMs === null) headers.push(['x-should-retry', 'false']);
  else
    headers.push(
      ['Retry-After', String(Math.max(1, Math.ceil(waitMs / 1000)))],
      ['retry-after-ms', String(Math.ceil(waitMs))],
    );
  return headers;
}

/** The output that a request is charged because it names no maximum. `field`: the field that would name it. */
export type AssumedOutput = { readonly tokens: number; readonly field: string };

export type RefusedCost = {
  /** Null when counting stopped above the limit. */
  readonly tokens: number | null;
  readonly assumed: AssumedOutput | null;
};

/** `cost`: absent when the cost of the request is not known. */
export function refusalMessage({ dimension, limit, waitMs }: Refused, cost?: RefusedCost): string {
  const message = `rate limit exceeded: ${dimensionName(dimension)}`;
  if (!cost || !isOfTokens(dimension) || (waitMs !== null && !cost.assumed)) return message;
  const facts = [`the request costs ${cost.tokens ?? `more than ${limit}`} tokens`];
  if (cost.assumed) facts.push(`${cost.assumed.tokens} of them because it has no ${cost.assumed.field}`);
  if (waitMs === null) facts.push(`the limit is ${limit} per minute`);
  return `${message} (${facts.join(', ')})`;
}

export function refusalResponse(refused: Refused, traceId: string, cost?: RefusedCost): Response {
  const code = 'rate_limit_exceeded';
  const body = errorBody({ status: 429, type: code, code, message: refusalMessage(refused, cost) });
  const headers: HeaderList = [jsonType, ['x-request-id', traceId], ...commonHeaders, ...refusalHeaders(refused)];
  return new FastResponse(body, { status: 429, headers });
}

/** Adds what is left to the headers of an admitted request: of the tightest dimension, of requests, and of tokens. */
export function pushRateHeaders(headers: HeaderList, verdict: Admitted, now = Date.now()): void {
  const { tightest, tightestRequests, tightestTokens } = verdict;
  if (!tightest) return;
  headers.push(
    ['X-RateLimit-Limit', String(tightest.limit)],
    ['X-RateLimit-Remaining', String(tightest.remaining)],
    ['X-RateLimit-Reset', unixSeconds(now + tightest.resetMs)],
  );
  if (tightestRequests) pushUnit(headers, 'requests', tightestRequests);
  if (tightestTokens) pushUnit(headers, 'tokens', tightestTokens);
}
