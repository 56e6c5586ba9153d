import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Group } from '../group.ts';

export type AwaitingGroup = Pick<Group, 'id' | 'leader_id' | 'activity_product_id' | 'sku_id'>;

/**
 * Locks the open groups of these shoppers for these rows that wait for the order of their leader: of each shopper and row at most
 * `each`, the oldest first.
 */
export async function lockAwaitingGroups(
  sql: Queryable,
  of: { userIds: readonly number[]; activityProductIds: readonly number[]; each: number; now: Date },
): Promise<AwaitingGroup[]> {
  return sql<AwaitingGroup[]>`
    with awaiting as (
      select g.id, row_number() over (partition by g.leader_id, g.activity_product_id, g.sku_id order by g.id) as n
      from group_buy.groups g join group_buy.members m on m.group_id = g.id and m.is_leader
      where g.leader_id = any(${[...of.userIds]}::bigint[]) and g.status = 'pending' and m.order_id is null
        and g.activity_product_id = any(${[...of.activityProductIds]}::bigint[])
    )
    select g.id, g.leader_id, g.activity_product_id, g.sku_id from group_buy.groups g
    where g.id in (select id from awaiting where n <= ${of.each}) and g.status = 'pending' and g.expire_at > ${of.now}
    order by g.id for no key update of g`;
}

/** Attaches new orders to locked groups of their buyers. */
export const attachLeaderOrders = (
  tx: Transaction,
  rows: readonly { group_id: number; order_id: number }[],
): Statement => tx`
  update group_buy.members m set order_id = u.order_id
  from unnest(${rows.map((r) => r.group_id)}::bigint[], ${rows.map((r) => r.order_id)}::bigint[]) as u (group_id, order_id)
  where m.group_id = u.group_id and m.is_leader and m.order_id is null`;
