import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Group } from '../group.ts';
import { groupColumns } from './group-store.ts';

/** Locks open groups that have expired. A group that another transaction has locked is left for the next call. */
export async function lockExpiredGroups(tx: Transaction, now: Date, limit: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from group_buy.groups where status = 'pending' and expire_at <= ${now}
    order by expire_at, id limit ${limit} for no key update skip locked`;
  return rows.map(({ id }) => id);
}

/** Fails locked groups. Their orders are to be cancelled. Call it in a later statement than the lock: it must see all members. */
export async function failGroups(tx: Transaction, groupIds: readonly number[], now: Date): Promise<Group[]> {
  return tx<Group[]>`
    with due as (
      update group_buy.members set refund_due = true
      where group_id = any(${[...groupIds]}::bigint[]) and order_id is not null
    )
    update group_buy.groups g set status = 'failed', ended_at = ${now}
    where g.id = any(${[...groupIds]}::bigint[]) and g.status = 'pending'
    returning ${groupColumns(tx)}`;
}

export type DueMember = { id: number; order_id: number };

/** Members of failed groups whose orders are to be cancelled, after this id. */
export async function selectDueMembers(sql: Queryable, after: number, limit: number): Promise<DueMember[]> {
  return sql<DueMember[]>`
    select id, order_id from group_buy.members where refund_due and id > ${after} order by id limit ${limit}`;
}

/** Marks that nothing is to be done for these members any more. */
export async function clearDueMembers(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx`
    update group_buy.members m set refund_due = false
    from (select id from group_buy.members where id = any(${[...ids]}::bigint[]) order by id for no key update) as locked
    where m.id = locked.id`;
}
