import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import { maxMessagesPerShopper } from '../limits.ts';
import type { NewMessage } from './message.ts';

/** The columns of `InboxMessage` of the relation `m`. */
export const messageColumns = (sql: Queryable): Statement => sql`
  m.id, m.user_id, m.message_group, m.priority, m.title, m.content, m.template, m.facts, m.created_at`;

/**
 * Inserts messages, and deletes the oldest ones of shoppers who have more than the limit now. An event that was written before
 * is not written again. Messages of events need no attention of staff: they are read in the back office from the start. Returns
 * the number of new messages.
 */
export async function insertMessages(tx: Transaction, messages: readonly NewMessage[]): Promise<number> {
  const added = await tx<{ user_id: number }[]>`
    insert into message_centre.messages (user_id, message_group, priority, title, content, template, facts, event_id, staff_id,
      created_at, staff_read_at)
    select user_id, message_group, priority, title, content, template, facts, event_id, staff_id, created_at,
      case when event_id is not null then created_at end
    from json_to_recordset(${JSON.stringify(messages)}::text::json) as n (user_id bigint, message_group text, priority text,
      title text, content text, template text, facts jsonb, event_id bigint, staff_id bigint, created_at timestamptz)
    on conflict (event_id, template) where event_id is not null do nothing
    returning user_id`;
  const receivers = [...new Set(added.map(({ user_id }) => user_id))].filter((id) => id > 0);
  if (receivers.length > 0)
    await tx`
      with surplus as materialized (
        select old.id from unnest(${receivers}::bigint[]) as r (user_id)
        cross join lateral (
          select id from message_centre.messages m where m.user_id = r.user_id and m.user_id > 0
          order by m.user_id, m.id desc offset ${maxMessagesPerShopper} limit 1000) as old
      ), locked as (
        -- In the order of readers who mark their messages.
        select id from message_centre.messages where id in (select id from surplus) order by id for update
      )
      delete from message_centre.messages where id in (select id from locked)`;
  return added.length;
}

/** Deletes everything that belongs to these shoppers. */
export async function deleteInboxes(tx: Transaction, userIds: readonly number[]): Promise<void> {
  const ids = [...userIds];
  await tx`
    with messages as (delete from message_centre.messages where user_id = any(${ids}::bigint[]) and user_id > 0),
    positions as (delete from message_centre.read_positions where user_id = any(${ids}::bigint[]))
    delete from message_centre.broadcast_reads where user_id = any(${ids}::bigint[])`;
}

/**
 * Makes other transactions that send by hand wait until this one ends: their limits are exact, and the ids of broadcasts have the
 * order of their commits, so that a read position covers no broadcast that is not visible yet.
 */
export const lockSending = (tx: Transaction): Statement =>
  tx`select pg_advisory_xact_lock(hashtextextended('message_centre.sending', 0))`;

/** The messages that were sent by hand in the last minute, and the broadcasts of the last 24 hours. */
export async function countSent(tx: Transaction, now: Date): Promise<{ minute: number; broadcasts: number }> {
  const [row] = await tx<{ minute: number; broadcasts: number }[]>`
    select count(*) filter (where created_at > ${now}::timestamptz - interval '1 minute')::int as minute,
           count(*) filter (where user_id = 0)::int as broadcasts
    from message_centre.messages
    where event_id is null and created_at > ${now}::timestamptz - interval '24 hours'`;
  return row!;
}
