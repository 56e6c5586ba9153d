import { defineMetrics } from '@tradepost/runtime';

export const webhookMetrics = defineMetrics(({ counter, histogram }) => ({
  attempts: counter({
    name: 'webhook_attempts_total',
    help: 'Requests to webhook endpoints, by result: delivered, retry, or failed after the last attempt',
    labelNames: ['result'],
  }),
  attemptSeconds: histogram({
    name: 'webhook_attempt_seconds',
    help: 'Time that requests to webhook endpoints took, answered or not',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  }),
}));
