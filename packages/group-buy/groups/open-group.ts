import { type OfferRequest, runningOffer } from '@tradepost/activities';
import type { Transaction } from '@tradepost/postgres';
import { groupBuyErrors } from '../errors.ts';
import type { Group } from '../group.ts';
import { groupBuyKind, optionOf } from '../group-buy-kind.ts';
import { maxLedGroups } from '../limits.ts';
import { enqueueSweep } from './expire-groups.ts';
import { lockOrderFor } from './group-orders.ts';
import { insertGroup } from './group-store.ts';

export type OpenGroup = OfferRequest & { readonly user_id: number };

const hourMs = 60 * 60 * 1000;

/**
 * Opens a group with the shopper as leader and first member, and enqueues the sweep at its end. An order that the shopper has placed
 * for it is attached; otherwise the next one is (`leaderStep`).
 */
export async function openGroup(tx: Transaction, request: OpenGroup, now: Date): Promise<Group> {
  const offer = await runningOffer(tx, groupBuyKind.type, request, now);
  const { activity_id, activity_product_id, activity_name, product_id } = offer;
  const sku_id = request.sku_id || offer.sku_id;
  const row = {
    ...{ activity_id, activity_product_id, activity_name, product_id, sku_id },
    order_id: await lockOrderFor(tx, { user_id: request.user_id, activity_product_id, sku_id }, now),
    group_price: offer.activity_price,
    leader_id: request.user_id,
    group_size: optionOf(offer.options, 'group_size'),
    expire_at: new Date(now.getTime() + optionOf(offer.options, 'expire_hours') * hourMs),
    created_at: now,
  };
  const group = await insertGroup(tx, row, maxLedGroups);
  if (!group) throw groupBuyErrors.too_many_groups({ max: maxLedGroups });
  await enqueueSweep(tx, group.expire_at);
  return group;
}
