import type { Metrics } from '@tradepost/runtime';
import { httpMetrics } from '../http-metrics.ts';
import type { Transport } from './transport.ts';

/** Writes the figures about request bodies of a port into the metrics before each read. */
export function countBodies(metrics: Metrics, port: 'api' | 'gateway', { bodies }: Pick<Transport, 'bodies'>): void {
  const { bodyBytes, bodiesRefused } = httpMetrics(metrics);
  const counted = { too_large: 0, no_memory: 0 };
  metrics.beforeRead.add(() => {
    bodyBytes.set({ port }, bodies.held);
    for (const reason of ['too_large', 'no_memory'] as const) {
      bodiesRefused.inc({ port, reason }, bodies.refused[reason] - counted[reason]);
      counted[reason] = bodies.refused[reason];
    }
  });
}
