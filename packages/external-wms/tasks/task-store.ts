import { orderIsWritten } from '@tradepost/inventory';
import type { Statement, Transaction } from '@tradepost/postgres';
import type { TaskAction } from '../protocol/actions.ts';
import { providerName } from '../settings.ts';
import { type NewTask, requestIdOf, type TaskStatus } from './task.ts';

/** Prepares a text of a partner or an operator: PostgreSQL can store it, and it is short enough for a list. */
const storableText = (text: string) => text.toWellFormed().replaceAll('\0', '').slice(0, 500).toWellFormed();

/**
 * Writes tasks in the order of the array. With `lock` the tasks are claimed at once, for their first attempt. Fails when a task
 * with the same request_id exists, unless `skipExisting` is set.
 */
export function insertTasks(
  tx: Transaction,
  tasks: readonly NewTask[],
  values: {
    mode: 'sync' | 'async';
    maxAttempts: number;
    backoffSeconds: number;
    lock?: { owner: string; expiresAt: Date };
    /** When a worker may claim the tasks; at once when absent. */
    due?: Date;
    /** Leaves out tasks that exist. Two transactions may write the same release. */
    skipExisting?: boolean;
    now: Date;
  },
): Statement {
  const { lock, now, due = now } = values;
  const rows = tasks.map((task, n) => ({
    ...{ n, biz_type: task.biz_type, biz_no: task.biz_no, action: task.action, payload: task.payload },
    request_id: requestIdOf(task),
    sequence_key: task.sequence_key ?? `${task.biz_type}:${task.biz_no}`,
  }));
  return tx`
    insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key, mode,
      payload, status, attempt_count, max_attempts, backoff_seconds, next_retry_at, lock_owner, lock_expires_at, created_at,
      updated_at)
    select ${providerName}, biz_type, biz_no, action, request_id, sequence_key, ${values.mode}, payload,
      ${lock ? 'processing' : 'pending'}, ${lock ? 1 : 0}, ${values.maxAttempts}, ${values.backoffSeconds},
      ${lock?.expiresAt ?? due}, ${lock?.owner ?? null}, ${lock?.expiresAt ?? null}, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as t (n int, biz_type text, biz_no text, action text,
      request_id text, sequence_key text, payload jsonb)
    order by n ${values.skipExisting ? tx`on conflict (request_id) do nothing` : tx``}`;
}

/** A locked task with the fields that decisions need. */
export type LockedTask = {
  id: number;
  request_id: string;
  biz_type: string;
  biz_no: string;
  action: TaskAction;
  sequence_key: string;
  mode: 'sync' | 'async';
  status: TaskStatus;
  attempt_count: number;
  max_attempts: number;
  backoff_seconds: number;
  next_retry_at: Date;
  lock_owner: string | null;
  accepted_at: Date | null;
  last_code: number | null;
  last_error: string;
  /** Whether the task is about a written order. The order of a pre-reservation may never be written. */
  has_order: boolean;
};

/** Locks tasks in id order. Unknown tasks are not in the result. */
export async function lockTasks(
  tx: Transaction,
  by: { ids: readonly number[] } | { requestIds: readonly string[] },
): Promise<LockedTask[]> {
  return tx<LockedTask[]>`
    select t.id, t.request_id, t.biz_type, t.biz_no, t.action, t.sequence_key, t.mode, t.status, t.attempt_count,
      t.max_attempts, t.backoff_seconds, t.next_retry_at, t.lock_owner, t.accepted_at, t.last_code, t.last_error,
      t.biz_type = 'order'
        and ${orderIsWritten(tx, tx`t.biz_no`)} as has_order
    from inventory.inventory_integration_tasks t
    where ${'ids' in by ? tx`t.id = any(${[...by.ids]}::bigint[])` : tx`t.request_id = any(${[...by.requestIds]}::text[])`}
    order by t.id for no key update of t`;
}

/** The new state of a task. `accepted`: the partner has accepted the task and calls back before `next`. */
export type TaskMove = {
  id: number;
  to: 'success' | 'failed' | 'pending' | 'accepted';
  /** When a task that stays open is due. */
  next: Date | null;
  code: number | null;
  error: string;
  callback_id?: string;
  /** Set for a retry by an operator: the count of attempts starts again. */
  resetAttempts?: boolean;
  /** Write the status of the order although the task stays open. */
  writesOrder?: boolean;
};

/**
 * Changes the state of locked tasks. Each task occurs in one move. The end of a task makes the next task with its key
 * due at once. A task that another transaction has locked is skipped, because that transaction may wait for orders that
 * this one has locked.
 */
export function moveTasks(tx: Transaction, moves: readonly TaskMove[], now: Date) {
  const rows = moves.map(({ id, to, next, code, error, callback_id, resetAttempts }) => ({
    ...{ id, accepted: to === 'accepted', status: to === 'accepted' ? 'processing' : to },
    ...{ next, code, error: storableText(error), callback_id, fresh: resetAttempts === true },
  }));
  return tx<{ woken: number }[]>`
    with moves as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as m (id bigint, status text, accepted boolean,
        next timestamptz, code int, error text, callback_id text, fresh boolean)
    ), moved as (
      update inventory.inventory_integration_tasks t
      set status = m.status, lock_owner = null, lock_expires_at = case when m.accepted then m.next end,
          next_retry_at = coalesce(m.next, t.next_retry_at),
          accepted_at = case when m.accepted then ${now}::timestamptz when m.status = 'pending' then null else t.accepted_at end,
          completed_at = case when m.status in ('success', 'failed') then ${now}::timestamptz end,
          attempt_count = case when m.fresh then 0 else t.attempt_count end,
          last_code = m.code, last_error = m.error, last_callback_id = coalesce(m.callback_id, t.last_callback_id),
          updated_at = ${now}
      from moves m where t.id = m.id
      returning t.id, t.sequence_key, t.status
    ), following as materialized (
      select n.id from (
        select sequence_key, max(id) as id from moved where status in ('success', 'failed') group by sequence_key
      ) as ended cross join lateral (
        select t.id from inventory.inventory_integration_tasks t
        where t.sequence_key = ended.sequence_key and t.id > ended.id and t.status in ('pending', 'processing')
        order by t.id limit 1
      ) as n
    ), free as materialized (
      select t.id from inventory.inventory_integration_tasks t
      where t.id in (select id from following except select id from moves) and t.status = 'pending'
      for no key update skip locked
    ), woken as (
      update inventory.inventory_integration_tasks t set next_retry_at = ${now}, updated_at = ${now}
      from free where t.id = free.id returning t.id
    )
    select runtime.must((select count(*) from moved) = ${moves.length}, 'a task is not there under its lock'),
           (select count(*) from woken) as woken`;
}

/** Tasks with the same keys that were written after these tasks. */
export async function selectLaterTasks(
  tx: Transaction,
  ids: readonly number[],
): Promise<{ id: number; action: TaskAction; status: TaskStatus }[]> {
  // Equal rows are returned once, because a SKU may have been announced thousands of times.
  return tx<{ id: number; action: TaskAction; status: TaskStatus }[]>`
    select distinct t.id, later.action, later.status
    from inventory.inventory_integration_tasks t
    join inventory.inventory_integration_tasks later on later.sequence_key = t.sequence_key and later.id > t.id
    where t.id = any(${[...ids]}::bigint[])`;
}
