import type { Transaction } from '@tradepost/postgres';

/** Locks the open groups with these orders, in id order, and returns their ids. */
export async function lockOpenGroupsOf(tx: Transaction, orderIds: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from group_buy.groups
    where status = 'pending'
      and id in (select group_id from group_buy.members where order_id = any(${[...orderIds]}::bigint[]))
    order by id for no key update`;
  return rows.map(({ id }) => id);
}

/** Removes the members with these orders from locked open groups. A leader stays, without an order. */
export async function removeOrders(
  tx: Transaction,
  groupIds: readonly number[],
  orderIds: readonly number[],
): Promise<void> {
  await tx`
    with freed as (
      update group_buy.members set order_id = null
      where group_id = any(${[...groupIds]}::bigint[]) and order_id = any(${[...orderIds]}::bigint[]) and is_leader
    ), gone as (
      delete from group_buy.members
      where group_id = any(${[...groupIds]}::bigint[]) and order_id = any(${[...orderIds]}::bigint[]) and not is_leader
      returning group_id
    )
    update group_buy.groups g set joined_count = g.joined_count - gone.n
    from (select group_id, count(*)::int as n from gone group by group_id) as gone
    where g.id = gone.group_id`;
}
