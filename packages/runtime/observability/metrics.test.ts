import { expect, test } from 'vitest';
import { defineMetrics, openMetrics } from './metrics.ts';

const ownMetrics = defineMetrics(({ counter, gauge }) => ({
  sales: counter({ name: 'till_sales_total', help: 'Sales', labelNames: ['till'] }),
  drawer: gauge({ name: 'till_drawer_cents', help: 'Money in the drawer', flushed: true }),
}));

test('the metrics of a package are created once per process and are read with all other metrics', async () => {
  const metrics = openMetrics();
  ownMetrics(metrics).sales.inc({ till: '1' });
  ownMetrics(metrics).sales.inc({ till: '1' });
  ownMetrics(openMetrics()).sales.inc({ till: '2' });
  const text = await metrics.registry.metrics();
  expect(text).toContain('till_sales_total{till="1"} 2');
  expect(text).not.toContain('till="2"');
  expect(text).toContain('db_statements_total 0');
});

test('a hook writes the value of a flushed metric before each read', async () => {
  const metrics = openMetrics();
  const { drawer } = ownMetrics(metrics);
  let cents = 100;
  metrics.beforeRead.add(() => drawer.set(cents));
  expect(await metrics.registry.metrics()).toContain('till_drawer_cents 100');
  cents = 250;
  expect(await metrics.registry.metrics()).toContain('till_drawer_cents 250');
});
