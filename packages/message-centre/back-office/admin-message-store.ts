import type { Paging } from '@tradepost/core';
import type { InboxGroup } from '@tradepost/module';
import { plannedByValue, type Queryable, type Transaction } from '@tradepost/postgres';
import { maxListed, maxUnreadForStaff } from '../limits.ts';
import type { InboxMessage } from '../messages/message.ts';
import { messageColumns } from '../messages/message-store.ts';

export type AdminMessage = InboxMessage & { is_read: boolean; read_by_user: boolean; user_nickname: string };
export type MessageFilter = { readonly group: InboxGroup | null; readonly user_id: number | null };

/** A page of all messages, newest first. The newest `maxListed` messages are counted. */
export async function selectMessages(
  sql: Queryable,
  { group, user_id }: MessageFilter,
  paging: Paging,
): Promise<{ rows: AdminMessage[]; total: number }> {
  const matching = sql`
    from message_centre.messages
    where ${group === null ? sql`true` : sql`message_group = ${group}`}
      ${user_id === null ? sql`` : user_id === 0 ? sql`and user_id = 0` : sql`and user_id = ${user_id} and user_id > 0`}`;
  const size = Math.max(0, Math.min(paging.size, maxListed - paging.offset));
  const rows = await plannedByValue(sql<(AdminMessage & { total: number })[]>`
    with counted as (select count(*)::int as total from (select ${matching} limit ${maxListed}) as listed),
    page as (
      select id ${matching} order by ${user_id === null ? sql`` : sql`user_id,`} id desc
      limit ${size} offset ${Math.min(paging.offset, maxListed)}
    )
    select counted.total, ${messageColumns(sql)}, m.staff_read_at is not null as is_read, m.read_at is not null as read_by_user,
           coalesce(u.nickname, '') as user_nickname
    from counted left join (page join message_centre.messages m using (id)) on true
    left join identity.shopper_names u on u.id = m.user_id
    order by m.id desc`);
  return {
    rows: rows.filter((row) => row.id !== null).map(({ total: _total, ...row }) => row),
    total: rows[0]?.total ?? 0,
  };
}

/** Marks messages as read by staff. Returns the ids of the messages that exist. */
export async function markReadByStaff(tx: Transaction, ids: readonly number[], now: Date): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update message_centre.messages set staff_read_at = coalesce(staff_read_at, ${now})
    where id = any(${[...ids]}::bigint[]) returning id`;
  return rows.map(({ id }) => id);
}

/** The messages that staff have not opened, by group, each counted up to `maxUnreadForStaff`. */
export async function countUnreadByStaff(
  sql: Queryable,
  groups: readonly InboxGroup[],
): Promise<{ message_group: InboxGroup; unread: number }[]> {
  return sql<{ message_group: InboxGroup; unread: number }[]>`
    select g.name as message_group, counted.unread
    from unnest(${[...groups]}::text[]) as g (name)
    cross join lateral (
      select count(*)::int as unread from (
        select from message_centre.messages m where m.message_group = g.name and m.staff_read_at is null
        limit ${maxUnreadForStaff}) as unread) as counted`;
}
