import { plannedByValue, type Sql } from '@tradepost/postgres';
import type { TaskAction } from '../protocol/actions.ts';
import type { TaskStatus } from './task.ts';

export type TaskRow = {
  id: number;
  provider: string;
  biz_type: string;
  biz_no: string;
  action: TaskAction;
  request_id: string;
  sequence_key: string;
  mode: 'sync' | 'async';
  payload: Readonly<Record<string, unknown>>;
  status: TaskStatus;
  attempt_count: number;
  max_attempts: number;
  backoff_seconds: number;
  next_retry_at: Date;
  last_code: number | null;
  last_error: string;
  lock_owner: string | null;
  lock_expires_at: Date | null;
  accepted_at: Date | null;
  completed_at: Date | null;
  last_callback_id: string | null;
  created_at: Date;
  updated_at: Date;
};

const columns = (sql: Sql) => sql`
  id, provider, biz_type, biz_no, action, request_id, sequence_key, mode, payload, status, attempt_count, max_attempts,
  backoff_seconds, next_retry_at, last_code, last_error, lock_owner, lock_expires_at, accepted_at, completed_at,
  last_callback_id, created_at, updated_at`;

export type TaskFilter = {
  status?: TaskStatus | undefined;
  /** Only tasks that have not ended. */
  open?: boolean | undefined;
  biz_no?: string | undefined;
  action?: TaskAction | undefined;
};

const matches = (sql: Sql, { status, open, biz_no, action }: TaskFilter) => sql`
  true ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${open ? sql`and status in ('pending', 'processing')` : sql``}
    ${biz_no === undefined ? sql`` : sql`and biz_no = ${biz_no}`}
    ${action === undefined ? sql`` : sql`and action = ${action}`}`;

/** Tasks, newest first. */
export async function selectTasks(sql: Sql, filter: TaskFilter, limit: number): Promise<TaskRow[]> {
  // The statement is planned for its values, because few tasks are open and many have succeeded.
  return plannedByValue(sql<TaskRow[]>`
    select ${columns(sql)} from inventory.inventory_integration_tasks
    where ${matches(sql, filter)} order by id desc limit ${limit}`);
}

export async function countTasks(sql: Sql, filter: TaskFilter): Promise<number> {
  const [row] = await plannedByValue(sql<{ total: number }[]>`
    select count(*) as total from inventory.inventory_integration_tasks where ${matches(sql, filter)}`);
  return row!.total;
}

export type CallbackRow = {
  callback_id: string;
  status: string;
  message: string;
  outcome: 'applied' | 'ignored' | 'unknown_task';
  seen: number;
  received_at: Date;
  last_seen_at: Date;
};

/**
 * A task with its callbacks, oldest callback first. `key` is its id or its request_id. Callbacks that arrived before the task was
 * written are included.
 */
export async function selectTask(
  sql: Sql,
  key: number | string,
): Promise<(TaskRow & { callbacks: CallbackRow[] }) | undefined> {
  const [task] = await sql<TaskRow[]>`
    select ${columns(sql)} from inventory.inventory_integration_tasks
    where ${typeof key === 'number' ? sql`id = ${key}` : sql`request_id = ${key}`}`;
  if (!task) return undefined;
  const callbacks = await sql<CallbackRow[]>`
    select callback_id, status, message, outcome, seen, received_at, last_seen_at from inventory.external_callbacks
    where request_id = ${task.request_id} order by received_at, callback_id`;
  return { ...task, callbacks };
}

/** The ids of failed tasks that can be retried, after the id `after`. */
export async function selectFailedTasks(sql: Sql, after: number, limit: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from inventory.inventory_integration_tasks
    where status = 'failed' and id > ${after} and not (mode = 'sync' and action = 'reserve')
    order by id limit ${limit}`;
  return rows.map((row) => row.id);
}
