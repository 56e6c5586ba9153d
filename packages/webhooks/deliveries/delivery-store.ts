import type { Queryable, Transaction } from '@tradepost/postgres';
import { claimMs } from '../limits.ts';
import type { Attempt, Claimed } from './delivery.ts';
import { lockToEnd, readyNext } from './order-store.ts';

export type NewDelivery = {
  readonly id: number;
  readonly name: string;
  readonly subject: string;
  readonly body: string;
  readonly occurred_at: Date;
};

/**
 * Inserts a delivery of each event for each endpoint that wants its kind. The first waiting one of a subject is ready. The caller
 * holds `lockToAdd`.
 */
export async function insertDeliveries(tx: Transaction, events: readonly NewDelivery[], now: Date): Promise<void> {
  await tx`
    with event as (
      select * from json_to_recordset(${JSON.stringify(events)}::text::json)
        as e (id bigint, name text, subject text, body text, occurred_at timestamptz))
    insert into webhooks.deliveries (endpoint_id, event_id, kind, subject, body, ready, due_at, occurred_at)
    select p.id, e.id, e.name, e.subject, e.body,
           row_number() over (partition by p.id, e.subject order by e.id) = 1 and not exists (
             select from webhooks.deliveries d where d.endpoint_id = p.id and d.subject = e.subject and d.ready),
           ${now}, e.occurred_at
    from webhooks.endpoints p
    join event e on p.event_kinds = '{}' or e.name = any(p.event_kinds)
    where p.enabled
    order by e.id, p.id
    on conflict (endpoint_id, event_id) do nothing`;
}

/** Claims due deliveries, at most `free` for each endpoint. Another process may claim them when the claim has ended. */
export async function claimDeliveries(
  sql: Queryable,
  free: ReadonlyMap<number, number>,
  now: Date,
): Promise<Claimed[]> {
  // An array: with a join PostgreSQL expects many rows of `chosen`, and reads the whole table.
  return sql<Claimed[]>`
    with chosen as (
      select d.id from unnest(${[...free.keys()]}::bigint[], ${[...free.values()]}::int[]) as e (endpoint_id, free)
      cross join lateral (
        select id from webhooks.deliveries
        where endpoint_id = e.endpoint_id and ready and due_at <= ${now}
        order by due_at, id limit e.free for update skip locked) as d)
    update webhooks.deliveries d
    set attempts = attempts + 1, due_at = ${new Date(now.getTime() + claimMs)}
    where d.id = any(array(select id from chosen))
    returning d.id, d.endpoint_id, d.event_id, d.body, d.attempts, d.attempts_before`;
}

/** Gives up claims that were not used: the attempt does not count. */
export async function releaseClaims(sql: Queryable, claims: readonly Claimed[], now: Date): Promise<void> {
  await sql`
    update webhooks.deliveries d set attempts = d.attempts - 1, due_at = ${now}
    from unnest(${claims.map(({ id }) => id)}::bigint[], ${claims.map(({ attempts }) => attempts)}::int[])
      as c (id, attempts)
    where d.id = c.id and d.attempts = c.attempts and d.ready`;
}

export type Outcome = {
  readonly claim: Claimed;
  readonly attempt: Attempt;
  readonly status: 'delivered' | 'waiting' | 'failed';
  /** The next attempt of a delivery that waits. */
  readonly due_at: Date | null;
};

/** Records attempts, and readies what waited behind the deliveries that have ended. Outcomes of lost claims are dropped. */
export async function recordOutcomes(tx: Transaction, outcomes: readonly Outcome[], now: Date): Promise<void> {
  const rows = outcomes.map(({ claim, attempt, status, due_at }) => ({
    ...{ id: claim.id, attempts: claim.attempts, outcome: status, due_at, answered: attempt.status },
    ...{ error: attempt.error, answer: attempt.answer },
    ...{ started_at: attempt.started_at, duration_ms: attempt.duration_ms },
  }));
  await lockToEnd(tx);
  const ended = await tx<{ endpoint_id: number; subject: string }[]>`
    with outcome as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as o (
        id bigint, attempts int, outcome text, due_at timestamptz, answered int, error text, answer text,
        started_at timestamptz, duration_ms int)),
    recorded as (
      update webhooks.deliveries d
      set status = o.outcome, ready = o.outcome = 'waiting', due_at = coalesce(o.due_at, d.due_at),
          last_status = o.answered, last_error = o.error,
          ended_at = case when o.outcome <> 'waiting' then ${now}::timestamptz end
      from outcome o
      where d.id = o.id and d.attempts = o.attempts and d.ready
      returning d.id, d.endpoint_id, d.subject, d.status),
    logged as (
      insert into webhooks.attempts (delivery_id, started_at, duration_ms, status, error, answer)
      select o.id, o.started_at, o.duration_ms, o.answered, o.error, o.answer
      from outcome o join recorded using (id) order by o.started_at)
    select endpoint_id, subject from recorded where status <> 'waiting'`;
  if (ended.length === 0) return;
  // A statement of its own: it sees rows that were committed before the lock was granted.
  await readyNext(tx, {
    endpoints: ended.map(({ endpoint_id }) => endpoint_id),
    subjects: ended.map(({ subject }) => subject),
  });
}
