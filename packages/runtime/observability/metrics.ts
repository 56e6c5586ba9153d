import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof openMetrics>;

/** Prometheus metrics of one process. */
export function openMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  /** What counts too often for a labelled counter keeps its own numbers, and brings them here when somebody reads. */
  const beforeRead = new Set<() => void>();
  const collect = () => {
    for (const bring of beforeRead) bring();
  };
  return {
    registry,
    beforeRead,
    rateLimitChecks: new Counter({
      name: 'gateway_ratelimit_check_total',
      help: 'Checks of the rate limiter by dimension and result: allow or deny',
      labelNames: ['dimension', 'result'] as const,
      registers,
      collect,
    }),
    rateLimitStore: new Counter({
      name: 'gateway_ratelimit_store_total',
      help: 'Checks by what the store said: ok, cached (a known refusal), timeout, error or open (let through unchecked)',
      labelNames: ['result'] as const,
      registers,
      collect,
    }),
    rateLimitKeys: new Gauge({
      name: 'gateway_ratelimit_keys',
      help: 'Logs of the limiter in this process',
      registers,
      collect,
    }),
    rateLimitEvicted: new Gauge({
      name: 'gateway_ratelimit_evicted_keys',
      help: 'Logs given up for want of memory while they still counted, since the start',
      registers,
      collect,
    }),
    requests: new Counter({
      name: 'http_requests_total',
      help: 'Requests answered, by route, method and envelope code',
      labelNames: ['method', 'route', 'code'] as const,
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request to its answer',
      labelNames: ['method', 'route'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    retentionRows: new Counter({
      name: 'retention_deleted_rows_total',
      help: 'Rows deleted for their age, by rule',
      labelNames: ['rule'] as const,
      registers,
    }),
    bodyBytes: new Gauge({
      name: 'http_body_buffer_bytes',
      help: 'Memory of request bodies that arrive or wait for their handler, by port: api or gateway',
      labelNames: ['port'] as const,
      registers,
      collect,
    }),
    bodiesRefused: new Counter({
      name: 'http_bodies_refused_total',
      help: 'Request bodies refused, by port and reason: too_large (413) or no_memory (503)',
      labelNames: ['port', 'reason'] as const,
      registers,
      collect,
    }),
    batchSize: new Histogram({
      name: 'group_commit_batch_size',
      help: 'Calls written in one transaction, by use case',
      labelNames: ['use_case'] as const,
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers,
    }),
    statements: new Counter({ name: 'db_statements_total', help: 'SQL statements sent', registers }),
    jobs: new Counter({
      name: 'jobs_total',
      help: 'Job runs by task and result',
      labelNames: ['task', 'result'] as const,
      registers,
    }),
    externalCalls: new Counter({
      name: 'external_wms_calls_total',
      help: 'Calls to the external warehouse, by action and result: success, refused or retry',
      labelNames: ['action', 'result'] as const,
      registers,
    }),
    externalCallSeconds: new Histogram({
      name: 'external_wms_call_seconds',
      help: 'Time that calls to the external warehouse took, answered or not',
      labelNames: ['action'] as const,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
      registers,
    }),
    gatewayRequests: new Counter({
      name: 'gateway_requests_total',
      help: 'Requests of the LLM gateway, by endpoint and HTTP status',
      labelNames: ['endpoint', 'status'] as const,
      registers,
    }),
    gatewayAttempts: new Counter({
      name: 'gateway_upstream_attempts_total',
      help: 'Requests to upstreams: ok, refused, limited, error, connect, timeout, reset, stale, too_large or cancelled',
      labelNames: ['upstream', 'result'] as const,
      registers,
    }),
    gatewayUpstreamSeconds: new Histogram({
      name: 'gateway_upstream_seconds',
      help: 'Time until an upstream had answered, or begun to stream its answer, or failed',
      labelNames: ['upstream'] as const,
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
      registers,
    }),
    gatewayFirstByteSeconds: new Histogram({
      name: 'gateway_first_byte_seconds',
      help: 'Time from a request to the beginning of its answer',
      labelNames: ['endpoint'] as const,
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
      registers,
    }),
    gatewayUsageLost: new Counter({
      name: 'gateway_usage_ends_lost_total',
      help: 'Ends of requests that could not be written; their rows are closed as failed a day later',
      registers,
    }),
  };
}
