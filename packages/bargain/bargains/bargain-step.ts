import type { PriceStep } from '@tradepost/pricing';
import { bargainErrors } from '../errors.ts';
import { bargainsOf } from './own-prices.ts';
import { type BuyableBargain, freeBought, markBought, selectBuyable } from './purchase-store.ts';

/** The bargains that can be bought, by shopper; the oldest first. */
type Facts = Map<number, BuyableBargain[]>;
/** The ids of the bargains that an order buys. */
type Use = readonly number[];

const noFacts: Facts = new Map();

/**
 * The price of a successful bargain, after the step of activities (10) has set the start price: its owner buys one piece at
 * `current_price`, once. A line without such a bargain keeps the start price.
 */
export const bargainStep: PriceStep<Facts, Use> = {
  name: 'bargain',
  priority: 11,
  refuses: [bargainErrors.one_piece],
  statements: { load: 1, write: 1, release: 1 },
  async load(sql, { userIds, activityProductIds, lock }) {
    if (activityProductIds.length === 0) return noFacts;
    const rows = await selectBuyable(sql, { userIds, activityProductIds, lock });
    return Map.groupBy(rows, ({ owner_id }) => owner_id);
  },
  apply(pricing, facts) {
    const { user_id, lines } = pricing.request;
    const own = facts.get(user_id);
    if (!own) return undefined;
    const use: number[] = [];
    bargainsOf(lines, own).forEach((bargain, line) => {
      const activity = pricing.activity(line);
      if (!bargain || !activity) return;
      if (lines[line]!.qty > 1) throw bargainErrors.one_piece();
      pricing.setActivity(line, bargain.current_price, activity);
      use.push(bargain.id);
    });
    return use.length > 0 ? use : undefined;
  },
  take(use, facts) {
    for (const [owner, bargains] of facts) {
      const left = bargains.filter(({ id }) => !use.includes(id));
      if (left.length < bargains.length) facts.set(owner, left);
    }
  },
  write: (tx, uses) => [
    markBought(
      tx,
      uses.flatMap(({ order, use }) => use.map((bargain_id) => ({ bargain_id, order_id: order.id }))),
    ),
  ],
  release: (tx, orders) => [
    freeBought(
      tx,
      orders.map(({ id }) => id),
    ),
  ],
};
