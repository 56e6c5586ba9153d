import type { Section } from './report.ts';

import { seedBuyers, seedSkus } from './seed.ts';
import type { Cluster } from './server.ts';
import { type BenchOptions, runTurns, shoppers, stockOfEach } from './turns.ts';

/** Whole purchases over HTTP: two lines into the cart, the order of the cart, its payment; a unit is all four calls. */
export async function purchase(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  const buyers = await seedBuyers(cluster.sql, cluster.tokens, shoppers);
  const skus = await seedSkus(cluster.sql, 500, stockOfEach);
  return [
    await runTurns(
      cluster,
      {
        title: 'purchase: two cart adds, order, payment; 1,000 SKUs',
        unit: 'purchase',
        callsPerUnit: 4,
        scenario: 'purchases',
        data: { buyers, skus },
      },
      options,
    ),
  ];
}
