import type { Paging } from '@tradepost/core';
import type { InboxGroup } from '@tradepost/module';
import type { Queryable, Sql, Statement } from '@tradepost/postgres';
import { maxBroadcastsPerGroup } from '../limits.ts';
import type { InboxMessage } from '../messages/message.ts';
import { messageColumns } from '../messages/message-store.ts';

/** A shopper. Broadcasts from before `since`, the time of the registration, are not shown. */
export type InboxOwner = { readonly user_id: number; readonly since: Date };

/** The newest broadcasts of a group that the owner sees: a relation with the column id. `group` is an SQL expression. */
const shownBroadcasts = (sql: Queryable, { since }: InboxOwner, group: Statement): Statement => sql`
  (select newest.id from (
     select id, created_at from message_centre.messages where user_id = 0 and message_group = ${group}
     order by id desc limit ${maxBroadcastsPerGroup}) as newest
   where newest.created_at >= ${since})`;

/** One page of the messages of a shopper, newest first. The number of messages that it reads has a limit. */
export async function selectInbox(
  sql: Queryable,
  owner: InboxOwner,
  groups: readonly InboxGroup[],
  paging: Paging,
): Promise<{ rows: (InboxMessage & { is_read: boolean })[]; total: number }> {
  const { user_id } = owner;
  const rows = await sql<(InboxMessage & { is_read: boolean; total: number })[]>`
    with shown as materialized (
      select id from message_centre.messages
      where user_id = ${user_id} and user_id > 0 and message_group = any(${[...groups]}::text[])
      union all
      select b.id from unnest(${[...groups]}::text[]) as g (name)
      cross join lateral ${shownBroadcasts(sql, owner, sql`g.name`)} as b
    ), page as (
      select id from shown order by id desc limit ${paging.size} offset ${paging.offset}
    )
    select counted.total, ${messageColumns(sql)},
           case when m.user_id > 0 then m.read_at is not null
                else m.id <= coalesce(p.up_to_id, 0) or r.message_id is not null end as is_read
    from (select count(*)::int as total from shown) as counted
    left join (page join message_centre.messages m using (id)) on true
    left join message_centre.read_positions p on p.user_id = ${user_id} and p.message_group = m.message_group
    left join message_centre.broadcast_reads r on r.user_id = ${user_id} and r.message_id = m.id
    order by m.id desc`;
  return {
    rows: rows.filter((row) => row.id !== null).map(({ total: _total, ...row }) => row),
    total: rows[0]?.total ?? 0,
  };
}

/** The unread messages of a shopper by group. Reads at most the kept messages of the shopper and the shown broadcasts. */
export async function countUnread(
  sql: Queryable,
  owner: InboxOwner,
  groups: readonly InboxGroup[],
): Promise<{ message_group: InboxGroup; unread: number }[]> {
  const { user_id } = owner;
  return sql<{ message_group: InboxGroup; unread: number }[]>`
    select g.name as message_group, (own.unread + broadcasts.unread)::int as unread
    from unnest(${[...groups]}::text[]) as g (name)
    left join message_centre.read_positions p on p.user_id = ${user_id} and p.message_group = g.name
    cross join lateral (
      select count(*) as unread from message_centre.messages m
      where m.user_id = ${user_id} and m.user_id > 0 and m.message_group = g.name and m.read_at is null) as own
    cross join lateral (
      select count(*) as unread from ${shownBroadcasts(sql, owner, sql`g.name`)} as b
      where b.id > coalesce(p.up_to_id, 0) and not exists (
        select from message_centre.broadcast_reads r where r.user_id = ${user_id} and r.message_id = b.id)) as broadcasts`;
}

/** Marks messages of a shopper as read. Ids of other messages are ignored. */
export async function markRead(
  sql: Sql,
  { user_id, since }: InboxOwner,
  ids: readonly number[],
  now: Date,
): Promise<void> {
  await sql`
    with own as (
      select id from message_centre.messages
      where id = any(${[...ids]}::bigint[]) and user_id = ${user_id} and user_id > 0 and read_at is null
      order by id for no key update
    ), marked as (
      update message_centre.messages m set read_at = ${now} from own where m.id = own.id
    )
    insert into message_centre.broadcast_reads (user_id, message_id, read_at)
    select ${user_id}, b.id, ${now} from message_centre.messages b
    left join message_centre.read_positions p on p.user_id = ${user_id} and p.message_group = b.message_group
    where b.id = any(${[...ids]}::bigint[]) and b.user_id = 0 and b.created_at >= ${since}
      and b.id > coalesce(p.up_to_id, 0)
    order by b.id
    on conflict (user_id, message_id) do nothing`;
}

/** Marks all messages of these groups as read: of the shopper one by one, broadcasts by the position of the newest one. */
export async function markAllRead(sql: Sql, userId: number, groups: readonly InboxGroup[], now: Date): Promise<void> {
  await sql`
    with newest as (
      select g.name, b.id from unnest(${[...groups]}::text[]) as g (name)
      cross join lateral (
        select id from message_centre.messages where user_id = 0 and message_group = g.name order by id desc limit 1) as b
    ), own as (
      select id from message_centre.messages
      where user_id = ${userId} and user_id > 0 and message_group = any(${[...groups]}::text[]) and read_at is null
      order by id for no key update
    ), marked as (
      update message_centre.messages m set read_at = ${now} from own where m.id = own.id
    ), moved as (
      insert into message_centre.read_positions as p (user_id, message_group, up_to_id)
      select ${userId}, name, id from newest order by name
      on conflict (user_id, message_group) do update set up_to_id = greatest(p.up_to_id, excluded.up_to_id)
    )
    delete from message_centre.broadcast_reads r using message_centre.messages m, newest
    where r.user_id = ${userId} and m.id = r.message_id and m.message_group = newest.name and m.id <= newest.id`;
}
