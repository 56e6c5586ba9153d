import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof openMetrics>;

/** Prometheus metrics of one process. */
export function openMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
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
  };
}
