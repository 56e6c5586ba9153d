import { openMetrics } from '@tradepost/runtime';
import { expect, test } from 'vitest';
import { countBodies } from './count-bodies.ts';

test('metrics show the memory of bodies, and count each refusal once for any number of reads', async () => {
  const metrics = openMetrics();
  const bodies = { held: 0, refused: { too_large: 0, no_memory: 0 } };
  countBodies(metrics, 'api', { bodies });
  const read = async () => (await metrics.registry.metrics()).split('\n').filter((line) => /^http_bod/.test(line));
  bodies.held = 70_000;
  bodies.refused.no_memory = 2;
  await read();
  bodies.refused.no_memory = 3;
  bodies.refused.too_large = 1;
  expect(await read()).toEqual([
    'http_body_buffer_bytes{port="api"} 70000',
    'http_bodies_refused_total{port="api",reason="too_large"} 1',
    'http_bodies_refused_total{port="api",reason="no_memory"} 3',
  ]);
});
