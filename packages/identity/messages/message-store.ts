import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import type { MessageChannel } from './sender.ts';

export type MessageStatus = 'queued' | 'sent' | 'failed' | 'skipped';

/** The most attempts of a message. The table has the same limit. */
export const maxAttempts = 5;
/** A message whose worker has ended is claimed again after this time. It is far longer than a group of messages may take. */
const claimMs = 60_000;
const dayMs = 24 * 3_600_000;

export type NewMessage = {
  batch: string;
  notice: string;
  channel: MessageChannel;
  user_id: number;
  phone: string;
  params: Readonly<Record<string, string>>;
  due_at: Date;
};

export function insertMessages(tx: Transaction, messages: readonly NewMessage[]): Statement {
  return tx`
    insert into identity.messages (batch, notice, channel, user_id, phone, params, due_at, created_at)
    select m.batch, m.notice, m.channel, m.user_id, m.phone, m.params, m.due_at, m.due_at
    from jsonb_to_recordset(${tx.json(messages as never)})
      as m (batch uuid, notice text, channel text, user_id bigint, phone text, params jsonb, due_at timestamptz)`;
}

export type ClaimedMessage = {
  id: number;
  notice: string;
  channel: MessageChannel;
  phone: string;
  params: Record<string, string>;
  /** `queued`: the caller sends it. Otherwise it has just ended. */
  status: MessageStatus;
  attempts: number;
};

/**
 * Claims due messages of a batch and counts their attempt. A message whose first attempt would exceed `perPhone` messages to its
 * phone in 24 hours is skipped. A message whose worker ended during the last attempt has failed.
 */
export function claimMessages(
  sql: Sql,
  batch: string,
  { now, limit, perPhone }: { now: Date; limit: number; perPhone: number },
): Promise<ClaimedMessage[]> {
  return sql.begin(async (tx): Promise<ClaimedMessage[]> => {
    const due = await tx<{ id: number; phone: string }[]>`
      select id, phone from identity.messages where batch = ${batch} and status = 'queued' and due_at <= ${now}
      order by id limit ${limit} for update skip locked`;
    if (due.length === 0) return [];
    const ids = due.map(({ id }) => id);
    const phones = [...new Set(due.map(({ phone }) => phone))];
    // Other workers may claim messages to the same phones. The locks have one order, so that no two workers wait for each other.
    await tx`
      select pg_advisory_xact_lock(hashtext('identity.messages'), key)
      from (select distinct hashtext(phone) as key from unnest(${phones}::text[]) as p (phone) order by 1) as keys`;
    return tx<ClaimedMessage[]>`
      with tried as (
        select phone, count(*) as messages from identity.messages
        where phone = any(${phones}::text[]) and created_at > ${new Date(now.getTime() - dayMs)} and attempts > 0
        group by phone
      ), claimed as (
        select m.id, m.attempts = ${maxAttempts} as is_spent,
               ${perPhone} > 0 and m.attempts = 0 and coalesce(t.messages, 0)
                 + row_number() over (partition by m.phone, m.attempts = 0 order by m.id) > ${perPhone} as is_over
        from identity.messages m left join tried t on t.phone = m.phone
        where m.id = any(${ids}::bigint[])
      )
      update identity.messages m
      set status = case when c.is_over then 'skipped' when c.is_spent then 'failed' else 'queued' end,
          attempts = m.attempts + case when c.is_over or c.is_spent then 0 else 1 end,
          last_error = case when c.is_over then 'too many messages to this phone in 24 hours'
                            when c.is_spent then 'the worker ended during the last attempt' else m.last_error end,
          due_at = ${new Date(now.getTime() + claimMs)}
      from claimed c
      where m.id = c.id
      returning m.id, m.notice, m.channel, m.phone, m.params, m.status, m.attempts`;
  }) as Promise<ClaimedMessage[]>;
}

export type Outcome = {
  id: number;
  /** The attempt that the outcome belongs to. */
  attempts: number;
  status: MessageStatus;
  last_error: string;
  sent_at: Date | null;
  /** The next attempt of a message that stays queued. */
  due_at: Date | null;
};

/**
 * Records the outcomes of claimed messages. A failure of an earlier attempt is ignored. A sending counts at any time, so that
 * the message is not sent again.
 */
export async function recordOutcomes(sql: Queryable, outcomes: readonly Outcome[]): Promise<void> {
  await sql`
    update identity.messages m
    set status = o.status, last_error = o.last_error, sent_at = o.sent_at, due_at = coalesce(o.due_at, m.due_at)
    from jsonb_to_recordset(${sql.json(outcomes as never)})
      as o (id bigint, attempts int, status text, last_error text, sent_at timestamptz, due_at timestamptz)
    where m.id = o.id and m.status = 'queued' and (m.attempts = o.attempts or o.status = 'sent')`;
}

/** The time at which the next queued message of the batch is due, and the time of the database. */
export async function selectNextDue(
  sql: Queryable,
  batch: string,
): Promise<{ due_at: Date; database_now: Date } | undefined> {
  const [row] = await sql<{ due_at: Date; database_now: Date }[]>`
    select due_at, now() as database_now from identity.messages
    where batch = ${batch} and status = 'queued' order by due_at limit 1`;
  return row;
}

/** Batches with a message that is due since `before`: their job was lost. */
export async function selectLateBatches(sql: Queryable, before: Date, limit: number): Promise<string[]> {
  const rows = await sql<{ batch: string }[]>`
    select batch from (
      select batch from identity.messages where status = 'queued' and due_at < ${before} order by due_at limit ${limit}
    ) as late group by batch`;
  return rows.map(({ batch }) => batch);
}

export type MessageRow = {
  id: number;
  notice: string;
  channel: MessageChannel;
  user_id: number;
  phone: string;
  status: MessageStatus;
  attempts: number;
  last_error: string;
  due_at: Date;
  created_at: Date;
  sent_at: Date | null;
};

/** Messages in a state or all messages, newest first. `total` counts all of them. */
export async function selectMessages(
  sql: Queryable,
  { status }: { status?: MessageStatus | undefined },
  limit: number,
): Promise<{ messages: MessageRow[]; total: number }> {
  const where = () => (status ? sql`status = ${status}` : sql`true`);
  const [messages, [count]] = await Promise.all([
    sql<MessageRow[]>`
      select id, notice, channel, user_id, phone, status, attempts, last_error, due_at, created_at, sent_at
      from identity.messages where ${where()} order by id desc limit ${limit}`,
    sql<{ total: number }[]>`select count(*) as total from identity.messages where ${where()}`,
  ]);
  return { messages: [...messages], total: count!.total };
}

/** Failed messages: these ids, or the first `limit` with an id above `after`. */
type FailedChoice = { ids: readonly number[] } | { after: number; limit: number };

/** Queues failed messages again, with all their attempts. Returns those that were failed. */
export async function reopenMessages(
  tx: Transaction,
  choice: FailedChoice,
  now: Date,
): Promise<{ id: number; batch: string }[]> {
  const chosen =
    'ids' in choice
      ? tx`id = any(${[...choice.ids]}::bigint[])`
      : tx`id = any(array(
          select id from identity.messages where status = 'failed' and id > ${choice.after} order by id limit ${choice.limit}))`;
  return tx<{ id: number; batch: string }[]>`
    update identity.messages set status = 'queued', attempts = 0, due_at = ${now}
    where status = 'failed' and ${chosen} returning id, batch`;
}

/** The number of messages that failed since `since`. */
export async function countFailedMessages(sql: Queryable, since: Date): Promise<number> {
  const [row] = await sql<{ failed: number }[]>`
    select count(*)::int as failed from identity.messages where status = 'failed' and created_at > ${since}`;
  return row!.failed;
}
