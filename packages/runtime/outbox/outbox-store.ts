import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import type { EventKind, OutboxEvent } from './event-kind.ts';

/**
 * Records events of one kind in the transaction of the change that they report, one for each of `facts`, in that order. Call
 * it after the rows of their subjects are locked: the order of ids is then the order of the changes.
 */
export function recordEvents<Facts>(
  tx: Transaction,
  kind: EventKind<Facts>,
  facts: readonly Facts[],
  occurredAt: Date,
): Statement {
  const rows = facts.map((data) => ({ subject: kind.subject(data), data }));
  return tx`
    insert into runtime.outbox (name, subject, data, occurred_at)
    select ${kind.name}, subject, data, ${occurredAt}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as e (subject text, data jsonb)`;
}

/** Allows one dispatcher at a time. Held until the end of the transaction. */
export async function lockDispatch(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended('runtime.outbox', 0)) as locked`;
  return row!.locked;
}

/** The next events in their order. An event waits while an earlier one of its subject waits for another attempt. */
export async function selectPendingEvents(tx: Transaction, limit: number, now: Date): Promise<OutboxEvent[]> {
  return tx<OutboxEvent[]>`
    select id, name, subject, data, occurred_at from runtime.outbox o
    where dispatched_at is null and failed_at is null and (attempts = 0 or due_at <= ${now})
      and not exists (
        select from runtime.outbox e
        where e.subject = o.subject and e.id < o.id and e.dispatched_at is null and e.failed_at is null
          and e.attempts > 0 and e.due_at > ${now})
    order by id limit ${limit}`;
}

export async function markDispatched(tx: Transaction, ids: readonly number[], now: Date): Promise<void> {
  await tx`
    update runtime.outbox set dispatched_at = ${now}, last_error = ''
    where id = any(${[...ids]}::bigint[]) and dispatched_at is null`;
}

/**
 * A relation with the column `data`: the stored events of these kinds that were dispatched since a time. A reader that was switched
 * off finds here what it has missed.
 */
export const dispatchedSince = (sql: Queryable, names: readonly string[], since: Statement): Statement => sql`
  (select data from runtime.outbox
   where name = any(${[...names]}::text[]) and dispatched_at >= ${since} and occurred_at >= ${since} - interval '1 day')`;

/** Counts a failed attempt. After `maxAttempts` the event has failed, and the next events of its subject go on. */
export async function recordFailure(
  sql: Sql,
  of: { id: number; error: string; maxAttempts: number; now: Date },
): Promise<{ failed: boolean }> {
  const [row] = await sql<{ failed: boolean }[]>`
    update runtime.outbox
    set attempts = attempts + 1, last_error = ${of.error},
        due_at = ${of.now}::timestamptz + make_interval(secs => least(power(2, attempts + 1), 3600)),
        failed_at = case when attempts + 1 >= ${of.maxAttempts} then ${of.now}::timestamptz end
    where id = ${of.id} and dispatched_at is null and failed_at is null
    returning failed_at is not null as failed`;
  return row ?? { failed: false };
}

export type EventState = 'waiting' | 'failed' | 'dispatched';
export type EventRow = OutboxEvent & {
  state: EventState;
  attempts: number;
  last_error: string;
  dispatched_at: Date | null;
};
export type EventFilter = { states?: readonly EventState[] | undefined; name?: string | undefined };

/** The newest events first. */
export async function selectEvents(sql: Queryable, filter: EventFilter, limit: number): Promise<EventRow[]> {
  const { states, name } = filter;
  const condition: Readonly<Record<EventState, Statement>> = {
    waiting: sql`(dispatched_at is null and failed_at is null)`,
    failed: sql`failed_at is not null`,
    dispatched: sql`dispatched_at is not null`,
  };
  const chosen = (states ?? []).map((state) => condition[state]);
  return sql<EventRow[]>`
    select id, name, subject, data, occurred_at, attempts, last_error, dispatched_at,
           case when dispatched_at is not null then 'dispatched' when failed_at is not null then 'failed' else 'waiting' end as state
    from runtime.outbox
    where ${name === undefined ? sql`true` : sql`name = ${name}`}
      and ${chosen.length === 0 ? sql`true` : sql`(${chosen.reduce((all, one) => sql`${all} or ${one}`)})`}
    order by id desc limit ${limit}`;
}

/** Gives failed events all their attempts again; of `ids` or of all. Returns the ids that changed. */
export async function retryEvents(sql: Sql, ids: readonly number[] | null): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    update runtime.outbox set failed_at = null, attempts = 0, due_at = now()
    where failed_at is not null ${ids === null ? sql`` : sql`and id = any(${[...ids]}::bigint[])`}
    returning id`;
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** The number of events that wait, counted up to `most`, and the time of the oldest. */
export async function selectBacklog(sql: Queryable, most: number): Promise<{ waiting: number; oldest: Date | null }> {
  const [row] = await sql<{ waiting: number; oldest: Date | null }[]>`
    select count(*) as waiting, min(occurred_at) as oldest
    from (select occurred_at from runtime.outbox where dispatched_at is null and failed_at is null order by id limit ${most}) as w`;
  return row!;
}
