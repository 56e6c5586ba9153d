import type { Metrics } from '@tradepost/runtime';
import type { Transport } from './transport.ts';

/** Brings a port's figures on request bodies to the metrics whenever they are read. */
export function countBodies(
  metrics: Pick<Metrics, 'beforeRead' | 'bodyBytes' | 'bodiesRefused'>,
  port: 'api' | 'gateway',
  { bodies }: Pick<Transport, 'bodies'>,
): void {
  const counted = { too_large: 0, no_memory: 0 };
  metrics.beforeRead.add(() => {
    metrics.bodyBytes.set({ port }, bodies.held);
    for (const reason of ['too_large', 'no_memory'] as const) {
      metrics.bodiesRefused.inc({ port, reason }, bodies.refused[reason] - counted[reason]);
      counted[reason] = bodies.refused[reason];
    }
  });
}
