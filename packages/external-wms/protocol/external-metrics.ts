import { defineMetrics } from '@tradepost/runtime';

export const externalMetrics = defineMetrics(({ counter, histogram }) => ({
  calls: counter({
    name: 'external_wms_calls_total',
    help: 'Calls to the external warehouse, by action and result: success, refused or retry',
    labelNames: ['action', 'result'],
  }),
  callSeconds: histogram({
    name: 'external_wms_call_seconds',
    help: 'Time that calls to the external warehouse took, answered or not',
    labelNames: ['action'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
  }),
}));
