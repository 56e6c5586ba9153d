import { lockOrdersForAfterSale, orderStatus, selectOrder, selectRefundable } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { groupBuyErrors } from '../errors.ts';
import type { Group } from '../group.ts';
import { groupSucceeded } from '../group-events.ts';
import { canBeInGroup, hasOffer } from './group-orders.ts';
import { insertMember, lockGroups, type Place, selectPlaces, setLeaderOrder } from './group-store.ts';
import { recordForMembers } from './record-members.ts';

/** The order of a shopper who joins a group. */
export type JoinGroup = { readonly group_id: number; readonly user_id: number; readonly order_id: number };

/** Throws the refusal of a group that has ended. */
function checkGroup(group: Group | undefined, now: Date): Group {
  if (!group) throw groupBuyErrors.group_not_found();
  if (group.status === 'success') throw groupBuyErrors.group_full();
  if (group.status === 'failed') throw groupBuyErrors.group_ended();
  if (group.expire_at <= now) throw groupBuyErrors.group_expired();
  return group;
}

/** The place of the shopper in the group. */
const ownPlace = (places: readonly Place[], { group_id, user_id }: JoinGroup): Place | undefined =>
  places.find((place) => place.group_id === group_id && place.user_id === user_id);

/**
 * The place of a leader who attaches an order, and the place of the order in another open group that the shopper leads. Throws for a
 * shopper or an order that has a place.
 */
function placesOf(places: readonly Place[], groups: readonly Group[], request: JoinGroup) {
  const own = ownPlace(places, request);
  if (own && (!own.is_leader || own.order_id !== null)) throw groupBuyErrors.already_member();
  const before = places.find(({ order_id }) => order_id === request.order_id);
  const led = before?.is_leader ? groups.find(({ id }) => id === before.group_id) : undefined;
  if (before && led?.status !== 'pending') throw groupBuyErrors.order_in_group();
  return { own, before };
}

/**
 * Joins a group with an own order, or attaches the order of the leader. Locks the order, so that it is not cancelled or shipped
 * meanwhile, then the group: shoppers who join at the same time do so one after the other. The last one completes the group.
 *
 * The order of a leader is attached to the group of the leader when it is placed. Joining another group with it moves it there.
 */
export async function joinGroup(tx: Transaction, request: JoinGroup, now: Date): Promise<void> {
  // The order of another shopper is not locked.
  const found = await selectOrder(tx, request.order_id, request.user_id);
  const [order] = found ? await lockOrdersForAfterSale(tx, [found.id]) : [];
  const groups = await lockGroups(tx, { group_id: request.group_id, order_id: found?.id ?? 0 });
  const places = await selectPlaces(tx, request);
  const attached = ownPlace(places, request);
  if (attached?.is_leader && attached.order_id === request.order_id) return;
  const group = checkGroup(
    groups.find(({ id }) => id === request.group_id),
    now,
  );
  // Before the places: whether the order of another shopper is in a group is not said.
  if (!found || !order) throw groupBuyErrors.order_not_found();
  const { own, before } = placesOf(places, groups, request);
  if (order.status === orderStatus.pendingPayment && found.expires_at <= now) throw groupBuyErrors.order_not_open();
  if (!canBeInGroup(order)) throw groupBuyErrors.order_not_open();
  if (!hasOffer(order, group)) throw groupBuyErrors.order_without_offer();
  // The order of a failed group is refunded in full.
  if ((await selectRefundable(tx, [order.id])).get(order.id)!.refunded > 0) throw groupBuyErrors.order_not_open();
  if (before) await setLeaderOrder(tx, before.id, null);
  if (own) return setLeaderOrder(tx, own.id, order.id);
  const { status, joined_count } = await insertMember(tx, request, now);
  if (status === 'success') await recordForMembers(tx, groupSucceeded, [{ ...group, joined_count }], now);
}
