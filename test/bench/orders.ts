import { type BenchOptions, runAlternating, shoppers, stockOfEach } from './alternating-runs.ts';
import type { Section } from './report.ts';
import { seedBuyers, seedSkus } from './seed.ts';
import type { Cluster } from './server.ts';

/** Measures orders over HTTP: on many SKUs, then all shoppers on one SKU. */
export async function orders(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  const buyers = await seedBuyers(cluster.sql, cluster.tokens, shoppers);
  const skus = await seedSkus(cluster.sql, 500, stockOfEach);
  const load = { unit: 'order', callsPerUnit: 1, scenario: 'orders' } as const;
  return [
    await runAlternating(
      cluster,
      { ...load, title: 'spread: two lines, 1,000 SKUs', data: { buyers, skus, lines: 2 } },
      options,
    ),
    await runAlternating(
      cluster,
      { ...load, title: 'hot: one line, one SKU', data: { buyers, skus: skus.slice(0, 1), lines: 1 } },
      options,
    ),
  ];
}
