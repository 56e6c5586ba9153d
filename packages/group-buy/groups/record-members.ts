import type { Transaction } from '@tradepost/postgres';
import { type EventKind, recordEvents } from '@tradepost/runtime';
import type { Group } from '../group.ts';
import type { MemberFacts } from '../group-events.ts';
import { selectMembersOf } from './group-store.ts';

/** Records one event for each member of these locked groups. */
export async function recordForMembers(
  tx: Transaction,
  kind: EventKind<MemberFacts>,
  groups: readonly Group[],
  now: Date,
): Promise<void> {
  const members = await selectMembersOf(
    tx,
    groups.map(({ id }) => id),
  );
  const byId = new Map(groups.map((group) => [group.id, group]));
  const facts = members.map(({ group_id, user_id, order_id }): MemberFacts => {
    const { activity_id, activity_name, product_id, sku_id, group_size, joined_count } = byId.get(group_id)!;
    const group = { activity_id, activity_name, product_id, sku_id, group_size, joined_count };
    return { group_order_id: group_id, ...group, user_id, order_id };
  });
  if (facts.length > 0) await recordEvents(tx, kind, facts, now);
}
