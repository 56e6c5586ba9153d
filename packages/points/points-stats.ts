import { defineRegistry } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';

/** Numbers that other packages add to `GET /admin/api/points/stats`. A field without an entry is 0. */
export type PointsStats = {
  /** `product_count`: products for points. `exchange_count`: their exchanges. */
  readonly field: 'product_count' | 'exchange_count';
  /** One statement, which must not count millions of rows. */
  count(sql: Queryable): Promise<number>;
};

export const pointsStats = defineRegistry<PointsStats>('points.stats');
