import { type InventoryStatus, inventoryStatusOf } from '@tradepost/inventory';
import type { Sql } from '@tradepost/postgres';
import type { TaskAction } from '../protocol/actions.ts';
import type { TaskStatus } from './task.ts';

export type TaskCounts = {
  open: number;
  /** Open tasks that a worker may claim now. */
  due: number;
  /** Tasks that have been due for ten minutes, which means that no worker polls. */
  overdue: number;
  oldest_due: Date | null;
  /** When the next open task is due; null when none is open. */
  next_due: Date | null;
  failed: number;
};

/** Counts open and failed tasks. Both counts use an index. */
export async function selectTaskCounts(sql: Sql): Promise<TaskCounts> {
  const [row] = await sql<TaskCounts[]>`
    select count(*) as open, count(*) filter (where next_retry_at <= now()) as due,
           count(*) filter (where next_retry_at < now() - interval '10 minutes') as overdue,
           min(next_retry_at) filter (where next_retry_at <= now()) as oldest_due, min(next_retry_at) as next_due,
           -- a pre-reservation whose order was not written needs no action
           (select count(*) from inventory.inventory_integration_tasks
            where status = 'failed' and not (mode = 'sync' and action = 'reserve')) as failed
    from inventory.inventory_integration_tasks where status in ('pending', 'processing')`;
  return row!;
}

export type TaskEffect = {
  id: number;
  request_id: string;
  action: TaskAction;
  status: TaskStatus;
  /** The inventory status of the order; null when the task is not about a written order. */
  order_status: InventoryStatus | null;
  /** The number of open later tasks with the same key. */
  following: number;
};

/** The state of these tasks and of their orders. */
export async function selectTaskEffects(sql: Sql, ids: readonly number[]): Promise<TaskEffect[]> {
  return sql<TaskEffect[]>`
    select t.id, t.request_id, t.action, t.status,
           case when t.biz_type = 'order' then ${inventoryStatusOf(sql, sql`t.biz_no`)} end as order_status,
           (select count(*) from inventory.inventory_integration_tasks later
            where later.sequence_key = t.sequence_key and later.id > t.id
              and later.status in ('pending', 'processing')) as following
    from inventory.inventory_integration_tasks t
    where t.id = any(${[...ids]}::bigint[]) order by t.id`;
}

export type StoredCallback = { callback_id: string; request_id: string; body: string; received_at: Date };

/** Stored callbacks in order of arrival. */
export async function selectCallbacks(
  sql: Sql,
  filter: { since?: Date | undefined; request_id?: string | undefined; callback_id?: string | undefined },
  limit: number,
): Promise<StoredCallback[]> {
  const { since, request_id, callback_id } = filter;
  return sql<StoredCallback[]>`
    select callback_id, request_id, body, received_at from inventory.external_callbacks
    where true ${since ? sql`and received_at >= ${since}` : sql``}
      ${request_id === undefined ? sql`` : sql`and request_id = ${request_id}`}
      ${callback_id === undefined ? sql`` : sql`and callback_id = ${callback_id}`}
    order by received_at, callback_id limit ${limit}`;
}

/** The ids of the newest SKUs. */
export async function selectNewestSkus(sql: Sql, count: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select id from catalog.sku_stock order by id desc limit ${count}`;
  return rows.map((row) => row.id);
}
