import { defineMetrics } from '@tradepost/runtime';

export const carrierMetrics = defineMetrics(({ counter, gauge, histogram }) => ({
  queries: counter({
    name: 'carrier_queries_total',
    help: 'Queries of carrier services, by driver and outcome: found, refused, garbage or unreachable',
    labelNames: ['driver', 'outcome'],
  }),
  querySeconds: histogram({
    name: 'carrier_query_seconds',
    help: 'Time that queries of carrier services took, answered or not',
    labelNames: ['driver'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  }),
  due: gauge({
    name: 'carrier_shipments_due',
    help: 'Shipments whose next query is due, at the last poll of this process',
  }),
}));
