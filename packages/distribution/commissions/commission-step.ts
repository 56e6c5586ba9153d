import type { Minor } from '@tradepost/core';
import type { PriceStep } from '@tradepost/pricing';
import type { Runtime } from '@tradepost/runtime';
import { distributionConfig, ratesOf } from '../config/distribution-config.ts';
import { commissionOn } from './commission.ts';
import { cancelCandidates, insertCommissions, selectUplines, type Upline } from './commission-store.ts';

type Facts = { readonly rates: readonly number[]; readonly uplines: ReadonlyMap<number, readonly Upline[]> };
/** What an order may earn its distributors. */
type Use = {
  readonly total: Minor;
  readonly candidates: readonly { distributor_id: number; level: number; rate: number; commission: Minor }[];
};

const noFacts: Facts = { rates: [], uplines: new Map() };

/** Records the commissions of an order as candidates. The price does not change. */
export const commissionStep = ({ settings }: Pick<Runtime, 'settings'>): PriceStep<Facts, Use> => ({
  name: 'distribution',
  priority: 50,
  statements: { load: 1, write: 1, release: 1 },
  async load(sql, { userIds }) {
    const config = settings.get(distributionConfig);
    const rates = ratesOf(config);
    if (!config.enabled || userIds.length === 0 || rates.every((rate) => rate === 0)) return noFacts;
    return { rates, uplines: await selectUplines(sql, userIds, rates.length) };
  },
  apply(pricing, { rates, uplines }) {
    const above = uplines.get(pricing.request.user_id);
    if (!above) return undefined;
    const total = pricing.request.lines.reduce((sum, _, line) => sum + pricing.payable(line), 0);
    const candidates = above.flatMap(({ distributor_id, level }) => {
      const rate = rates[level - 1] ?? 0;
      return rate > 0 ? [{ distributor_id, level, rate, commission: commissionOn(total, rate) }] : [];
    });
    return candidates.length > 0 ? { total, candidates } : undefined;
  },
  write: (tx, uses, now) => [
    insertCommissions(
      tx,
      uses.flatMap(({ order, use }) =>
        use.candidates.map((one) => ({
          ...one,
          ...{ order_id: order.id, buyer_id: order.user_id, order_amount: use.total },
        })),
      ),
      now,
    ),
  ],
  release: (tx, orders, now) => [
    cancelCandidates(
      tx,
      orders.map(({ id }) => id),
      now,
    ),
  ],
});
