import type { PriceStep } from '@tradepost/pricing';
import { groupBuyKind } from '../group-buy-kind.ts';
import { type AwaitingGroup, attachLeaderOrders, lockAwaitingGroups } from './leader-store.ts';

/** The open groups that wait for the order of their leader, by leader; the oldest first. */
type Facts = Map<number, AwaitingGroup[]>;
/** The id of the group that an order is attached to. */
type Use = number;

const noFacts: Facts = new Map();

/** The largest number of orders of one shopper in a batch. */
const mostOf = (requests: readonly { user_id: number }[]): number =>
  Math.max(0, ...[...Map.groupBy(requests, ({ user_id }) => user_id).values()].map(({ length }) => length));

/**
 * Attaches a new order to the open group that its buyer leads, so that it is held and refunded with the group. The price does not
 * change. `leaveReader` removes the order when it is cancelled, so there is nothing to release.
 */
export const leaderStep: PriceStep<Facts, Use> = {
  name: 'group_buy',
  priority: 12,
  statements: { load: 1, write: 1, release: 0 },
  async load(sql, { requests, userIds, activityProductIds, now, lock }) {
    // A quote attaches nothing.
    if (activityProductIds.length === 0 || !lock) return noFacts;
    const groups = await lockAwaitingGroups(sql, { userIds, activityProductIds, each: mostOf(requests), now });
    return Map.groupBy(groups, ({ leader_id }) => leader_id);
  },
  apply(pricing, facts) {
    const { user_id, lines } = pricing.request;
    const isOf = (group: AwaitingGroup) =>
      lines.some(
        (line, index) =>
          pricing.activity(index)?.activity_type === groupBuyKind.type &&
          line.activity_product_id === group.activity_product_id &&
          (group.sku_id === 0 || line.sku_id === group.sku_id),
      );
    return facts.get(user_id)?.find(isOf)?.id;
  },
  take(use, facts) {
    for (const [leader, groups] of facts) {
      const left = groups.filter(({ id }) => id !== use);
      if (left.length < groups.length) facts.set(leader, left);
    }
  },
  write: (tx, uses) => [
    attachLeaderOrders(
      tx,
      uses.map(({ order, use }) => ({ group_id: use, order_id: order.id })),
    ),
  ],
};
