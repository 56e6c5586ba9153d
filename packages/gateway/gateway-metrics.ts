import { defineMetrics } from '@tradepost/runtime';

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;

export const gatewayMetrics = defineMetrics(({ counter, gauge, histogram }) => ({
  rateLimitChecks: counter({
    name: 'gateway_ratelimit_check_total',
    help: 'Checks of the rate limiter by dimension and result: allow or deny',
    labelNames: ['dimension', 'result'],
    flushed: true,
  }),
  rateLimitStore: counter({
    name: 'gateway_ratelimit_store_total',
    help: 'Checks by result of the store: ok, cached (a known refusal), timeout, error or open circuit; the last three pass unchecked',
    labelNames: ['result'],
    flushed: true,
  }),
  rateLimitKeys: gauge({
    name: 'gateway_ratelimit_keys',
    help: 'Logs of the limiter in this process',
    flushed: true,
  }),
  rateLimitEvicted: gauge({
    name: 'gateway_ratelimit_evicted_keys',
    help: 'Logs that were dropped for memory while they still counted, since the start',
    flushed: true,
  }),
  requests: counter({
    name: 'gateway_requests_total',
    help: 'Requests of the LLM gateway, by endpoint and HTTP status',
    labelNames: ['endpoint', 'status'],
  }),
  attempts: counter({
    name: 'gateway_upstream_attempts_total',
    help: 'Requests to upstreams: ok, refused, limited, error, connect, timeout, reset, stale, too_large or cancelled',
    labelNames: ['upstream', 'result'],
  }),
  upstreamSeconds: histogram({
    name: 'gateway_upstream_seconds',
    help: 'Time until an upstream answered, began to stream, or failed',
    labelNames: ['upstream'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  }),
  firstByteSeconds: histogram({
    name: 'gateway_first_byte_seconds',
    help: 'Time from a request to the first byte of its answer',
    labelNames: ['endpoint'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  }),
  usageLost: counter({
    name: 'gateway_usage_ends_lost_total',
    help: 'Ends of requests that could not be written; their rows are closed as failed after a day',
  }),
}));
