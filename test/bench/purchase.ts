import { type BenchOptions, runAlternating, shoppers, stockOfEach } from './alternating-runs.ts';
import { promotedPurchases } from './promoted-purchases.ts';
import type { Section } from './report.ts';
import { seedBuyers, seedSkus } from './seed.ts';
import type { Cluster } from './server.ts';

/** Measures whole purchases over HTTP, without and with promotions. A unit is four calls: two cart adds, the order, the payment. */
export async function purchase(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  const buyers = await seedBuyers(cluster.sql, cluster.tokens, shoppers);
  const skus = await seedSkus(cluster.sql, 500, stockOfEach);
  return [
    await runAlternating(
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
    await promotedPurchases(cluster, options, { buyers, skus }),
  ];
}
