import type { PriceStep } from '@tradepost/pricing';
import { type FullReduction, reductionOf } from './full-reduction.ts';
import { selectRunning } from './full-reduction-store.ts';

type Facts = readonly Pick<FullReduction, 'name' | 'tiers'>[];

/**
 * The full reductions that run: of each the highest tier that the order reaches. They add up, and all tiers are compared with the amount
 * before the first of them. Orders use nothing of them, so there is nothing to write or to return.
 */
export const fullReduceStep: PriceStep<Facts, never> = {
  name: 'full_reduce',
  priority: 20,
  statements: { load: 1, write: 0, release: 0 },
  // Staff may end one at any time. Only a read in the transaction of the orders is exact, and the table is small.
  load: (sql, { now }) => selectRunning(sql, now),
  apply(pricing, running) {
    const base = pricing.base();
    for (const { name, tiers } of running) {
      const reduce = reductionOf(tiers, base);
      if (reduce > 0) pricing.discount({ type: 'full_reduce', name }, reduce);
    }
    return undefined;
  },
};
