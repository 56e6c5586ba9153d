import type { AttemptStatus } from '@tradepost/activities';
import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Group, Member } from '../group.ts';

export const groupColumns = (sql: Queryable): Statement => sql`
  g.id, g.activity_id, g.activity_product_id, g.activity_name, g.product_id, g.sku_id, g.group_price, g.leader_id, g.group_size,
  g.joined_count, g.status, g.expire_at, g.created_at, g.ended_at`;

export type NewGroup = Omit<Group, 'id' | 'joined_count' | 'status' | 'ended_at'>;

/**
 * Inserts a group with its leader and the order of the leader, if any, which is locked. Undefined when the leader leads `most` open
 * groups; calls at the same time can exceed it.
 */
export async function insertGroup(
  tx: Transaction,
  { order_id, ...group }: NewGroup & { readonly order_id: number | null },
  most: number,
): Promise<Group | undefined> {
  const [row] = await tx<Group[]>`
    with g as (
      insert into group_buy.groups as g (activity_id, activity_product_id, activity_name, product_id, sku_id, group_price,
        leader_id, group_size, expire_at, created_at)
      select ${group.activity_id}::bigint, ${group.activity_product_id}::bigint, ${group.activity_name}, ${group.product_id}::bigint,
        ${group.sku_id}::bigint, ${group.group_price}::bigint, ${group.leader_id}::bigint, ${group.group_size}::int,
        ${group.expire_at}::timestamptz, ${group.created_at}::timestamptz
      where (select count(*) from group_buy.groups where leader_id = ${group.leader_id} and status = 'pending') < ${most}
      returning *
    ), leader as (
      insert into group_buy.members (group_id, user_id, order_id, is_leader, created_at)
      select id, leader_id, ${order_id}::bigint, true, created_at from g
    )
    select ${groupColumns(tx)} from g`;
  return row;
}

/** Locks a group, and the group whose leader has this order, until the transaction ends. */
export async function lockGroups(tx: Transaction, of: { group_id: number; order_id: number }): Promise<Group[]> {
  return tx<Group[]>`
    select ${groupColumns(tx)} from group_buy.groups g
    where g.id = ${of.group_id}
      or g.id = (select group_id from group_buy.members where order_id = ${of.order_id} and is_leader)
    order by g.id for no key update`;
}

/** The members of a group, the leader first, then in the order in which they joined. */
export async function selectMembers(sql: Queryable, groupId: number): Promise<Member[]> {
  return sql<Member[]>`
    select m.id, m.group_id, m.user_id, m.order_id, m.is_leader, coalesce(u.nickname, '') as user_nickname, m.created_at
    from group_buy.members m left join identity.shopper_names u on u.id = m.user_id
    where m.group_id = ${groupId} order by m.is_leader desc, m.id`;
}

export type Place = Pick<Member, 'id' | 'group_id' | 'user_id' | 'order_id' | 'is_leader'>;

/** The place of this shopper in the group, and the place of this order in any group. */
export async function selectPlaces(
  tx: Transaction,
  of: { group_id: number; user_id: number; order_id: number },
): Promise<Place[]> {
  return tx<Place[]>`
    select id, group_id, user_id, order_id, is_leader from group_buy.members
    where (group_id = ${of.group_id} and user_id = ${of.user_id}) or order_id = ${of.order_id}`;
}

/** Sets or removes the order of the leader, by the place of the leader. The group is locked. */
export async function setLeaderOrder(tx: Transaction, placeId: number, orderId: number | null): Promise<void> {
  await tx`update group_buy.members set order_id = ${orderId}::bigint where id = ${placeId} and is_leader`;
}

/** Adds a member to a locked open group. The last member completes it. Returns the state of the group. */
export async function insertMember(
  tx: Transaction,
  member: { group_id: number; user_id: number; order_id: number },
  now: Date,
): Promise<{ status: AttemptStatus; joined_count: number }> {
  const [row] = await tx<{ status: AttemptStatus; joined_count: number }[]>`
    with joined as (
      insert into group_buy.members (group_id, user_id, order_id, is_leader, created_at)
      values (${member.group_id}, ${member.user_id}, ${member.order_id}, false, ${now})
      returning group_id
    )
    update group_buy.groups g
    set joined_count = g.joined_count + 1,
        status = case when g.joined_count + 1 = g.group_size then 'success' else g.status end,
        ended_at = case when g.joined_count + 1 = g.group_size then ${now}::timestamptz end
    from joined where g.id = joined.group_id and g.status = 'pending' and g.joined_count < g.group_size
    returning g.status, g.joined_count`;
  if (!row) throw new Error(`group ${member.group_id} is not locked, or not open`);
  return row;
}

/** Those of these orders that are in any group. */
export async function selectOrdersInGroups(tx: Transaction, orderIds: readonly number[]): Promise<Set<number>> {
  const rows = await tx<{ order_id: number }[]>`
    select order_id from group_buy.members where order_id = any(${[...orderIds]}::bigint[])`;
  return new Set(rows.map(({ order_id }) => order_id));
}

/** Those of these orders that are in a group which has not succeeded. */
export async function selectHeldOrderIds(tx: Transaction, orderIds: readonly number[]): Promise<number[]> {
  const rows = await tx<{ order_id: number }[]>`
    select m.order_id from group_buy.members m join group_buy.groups g on g.id = m.group_id
    where m.order_id = any(${[...orderIds]}::bigint[]) and g.status <> 'success'`;
  return rows.map(({ order_id }) => order_id);
}

/** The members of these groups. `order_id` 0: a leader without an order. */
export async function selectMembersOf(
  tx: Transaction,
  groupIds: readonly number[],
): Promise<{ group_id: number; user_id: number; order_id: number }[]> {
  return tx<{ group_id: number; user_id: number; order_id: number }[]>`
    select group_id, user_id, coalesce(order_id, 0) as order_id from group_buy.members
    where group_id = any(${[...groupIds]}::bigint[]) order by group_id, is_leader desc, id`;
}
