import type { Sql } from '@tradepost/postgres';
import type { TaskAction } from '../protocol/actions.ts';

export type ClaimedTask = {
  id: number;
  request_id: string;
  action: TaskAction;
  payload: Readonly<Record<string, unknown>>;
  attempt_count: number;
  lock_expires_at: Date;
};

export type Claim = {
  /** The number of due tasks that were found. Tasks that another worker is claiming are not counted. */
  seen: number;
  claimed: ClaimedTask[];
  /** Tasks to dead-letter: their attempts are used up, or the order of a pre-reservation was not written in time. */
  overdue: number[];
};

type Row = ClaimedTask & { verdict: 'claimed' | 'blocked' | 'overdue' };

/**
 * Claims due tasks. A task that has an earlier open task with its key is postponed, so that not every poll finds it. The end of
 * the earlier task makes it due (`moveTasks`). If both happen at the same time, the task waits until `postponedTo`.
 */
export async function claimDueTasks(
  sql: Sql,
  values: {
    owner: string;
    now: Date;
    lockedTo: Date;
    postponedTo: Date;
    batch: number;
    /** Only tasks of these orders, except those in `except`. New tasks are claimed before they are due, because their writer delivers first. */
    of?: { bizNos: readonly string[]; except: readonly number[] };
  },
): Promise<Claim> {
  const { now, lockedTo, postponedTo, of } = values;
  const rows = await sql<Row[]>`
    with due as materialized (
      select t.id, t.sequence_key, t.mode, t.action, t.attempt_count, t.max_attempts
      from inventory.inventory_integration_tasks t
      where t.status in ('pending', 'processing')
        and ${of ? sql`(t.next_retry_at <= ${now} or (t.status = 'pending' and t.attempt_count = 0))` : sql`t.next_retry_at <= ${now}`}
        ${of ? sql`and t.sequence_key = any(${of.bizNos.map((no) => `order:${no}`)}::text[]) and t.id <> all(${[...of.except]}::bigint[])` : sql``}
      order by t.next_retry_at, t.id limit ${values.batch} for no key update skip locked
    ), judged as materialized (
      select due.id, case
        -- the caller of this pre-reservation has died
        when due.mode = 'sync' and due.action = 'reserve' then 'overdue'
        when due.attempt_count >= due.max_attempts then 'overdue'
        when exists (
          select from inventory.inventory_integration_tasks before
          where before.sequence_key = due.sequence_key and before.id < due.id and before.status in ('pending', 'processing')
        ) then 'blocked'
        else 'claimed' end as verdict
      from due
    ), written as (
      update inventory.inventory_integration_tasks t
      set status = case when j.verdict = 'claimed' then 'processing' else t.status end,
          lock_owner = case when j.verdict = 'claimed' then ${values.owner} else t.lock_owner end,
          attempt_count = t.attempt_count + case when j.verdict = 'claimed' then 1 else 0 end,
          accepted_at = case when j.verdict = 'claimed' then null else t.accepted_at end,
          lock_expires_at = case when j.verdict = 'claimed' then ${lockedTo}::timestamptz
                                 when t.status = 'processing' then ${postponedTo}::timestamptz end,
          next_retry_at = case when j.verdict = 'claimed' then ${lockedTo}::timestamptz else ${postponedTo}::timestamptz end,
          updated_at = ${now}
      from judged j where t.id = j.id and j.verdict <> 'overdue'
      returning t.id, j.verdict, t.request_id, t.action, t.payload, t.attempt_count, t.lock_expires_at
    )
    select * from written
    union all
    select id, verdict, null, null, null, null, null from judged where verdict = 'overdue'
    order by id`;
  return {
    seen: rows.length,
    claimed: rows.filter((row) => row.verdict === 'claimed'),
    overdue: rows.filter((row) => row.verdict === 'overdue').map((row) => row.id),
  };
}

/** Releases claimed tasks that were not sent. The claim does not count as an attempt. */
export async function releaseTasks(
  sql: Sql,
  tasks: readonly Pick<ClaimedTask, 'id' | 'attempt_count'>[],
  { owner, now }: { owner: string; now: Date },
): Promise<void> {
  await sql`
    update inventory.inventory_integration_tasks t
    set status = 'pending', attempt_count = t.attempt_count - 1, next_retry_at = ${now}, lock_owner = null,
        lock_expires_at = null, updated_at = ${now}
    from unnest(${tasks.map((task) => task.id)}::bigint[], ${tasks.map((task) => task.attempt_count)}::int[])
      as c (id, attempt_count)
    where t.id = c.id and t.status = 'processing' and t.lock_owner = ${owner} and t.attempt_count = c.attempt_count`;
}

/** When the next open task is due; null when none is open. */
export async function selectNextDue(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ due: Date | null }[]>`
    select min(next_retry_at) as due from inventory.inventory_integration_tasks where status in ('pending', 'processing')`;
  return row!.due;
}
