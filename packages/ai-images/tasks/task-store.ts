import type { Paging } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import { hasOpenJob } from '@tradepost/runtime';
import type { FailureName } from '../errors.ts';
import { jobKeyPrefix } from './task-jobs.ts';
import type { TaskParams } from './task-schemas.ts';

export type TaskFailure = { name: FailureName; values: Record<string, string | number> };
export type ImageTask = {
  id: number;
  model_id: number;
  model_name: string;
  staff_id: number;
  scene: string;
  biz_type: string;
  target_product_id: number;
  ref_image_url: string;
  prompt: string;
  neg_prompt: string;
  params: TaskParams;
  status: 1 | 2 | 3;
  result_urls: string[] | null;
  failure: TaskFailure | null;
  attempts: number;
  created_at: Date;
  deadline_at: Date;
  finished_at: Date | null;
};
export type NewTask = Pick<
  ImageTask,
  | 'model_id'
  | 'model_name'
  | 'staff_id'
  | 'scene'
  | 'biz_type'
  | 'target_product_id'
  | 'ref_image_url'
  | 'prompt'
  | 'neg_prompt'
  | 'params'
>;

/** A page of tasks, the newest first. */
export async function selectTasks(sql: Queryable, paging: Paging): Promise<{ rows: ImageTask[]; total: number }> {
  const rows = await sql<(ImageTask & { total: number })[]>`
    with page as (select * from ai_images.tasks order by id desc limit ${paging.size} offset ${paging.offset}),
    counted as (select count(*)::int as total from ai_images.tasks)
    select page.*, counted.total from counted left join page on true order by page.id desc`;
  return { rows: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}

export async function selectTask(sql: Queryable, id: number): Promise<ImageTask | undefined> {
  const [row] = await sql<ImageTask[]>`select * from ai_images.tasks where id = ${id}`;
  return row;
}

/** The numbers of running tasks, which stay true until this transaction ends: all who create tasks wait for it. */
export async function countRunning(tx: Transaction, staffId: number): Promise<{ own: number; all: number }> {
  await tx`select pg_advisory_xact_lock(hashtextextended('ai_images.tasks', 0))`;
  const [row] = await tx<{ own: number; all: number }[]>`
    select count(*) filter (where staff_id = ${staffId})::int as own, count(*)::int as all
    from ai_images.tasks where status = 1`;
  return row!;
}

export async function insertTasks(tx: Transaction, tasks: readonly NewTask[], minutes: number): Promise<ImageTask[]> {
  return tx<ImageTask[]>`
    insert into ai_images.tasks (model_id, model_name, staff_id, scene, biz_type, target_product_id, ref_image_url,
      prompt, neg_prompt, params, deadline_at)
    select model_id, model_name, staff_id, scene, biz_type, target_product_id, ref_image_url, prompt, neg_prompt, params,
      now() + make_interval(mins => ${minutes})
    from jsonb_to_recordset(${tx.json(tasks as never)}) as t (
      model_id bigint, model_name text, staff_id bigint, scene text, biz_type text, target_product_id bigint,
      ref_image_url text, prompt text, neg_prompt text, params jsonb)
    returning *`;
}

/** Begins an attempt. Undefined when the task has ended. A later attempt takes the task from an earlier one. */
export async function claimTask(sql: Queryable, id: number): Promise<ImageTask | undefined> {
  const [row] = await sql<ImageTask[]>`
    update ai_images.tasks set attempts = attempts + 1 where id = ${id} and status = 1 returning *`;
  return row;
}

type Attempt = Pick<ImageTask, 'id' | 'attempts'>;

/** Completes a task. False when it has ended, or when a later attempt has begun. */
export async function completeTask(tx: Transaction, task: Attempt, addresses: readonly string[]): Promise<boolean> {
  const rows = await tx`
    update ai_images.tasks set status = 2, result_urls = ${tx.json(addresses as never)}, finished_at = now()
    where id = ${task.id} and attempts = ${task.attempts} and status = 1 returning id`;
  return rows.length > 0;
}

/** Ends a task as failed. False when it has ended, or when a later attempt has begun. */
export async function failTask(sql: Queryable, task: Attempt, failure: TaskFailure): Promise<boolean> {
  const rows = await sql`
    update ai_images.tasks set status = 3, failure = ${sql.json(failure as never)}, finished_at = now()
    where id = ${task.id} and attempts = ${task.attempts} and status = 1 returning id`;
  return rows.length > 0;
}

/** Ends the tasks whose deadline is over. Returns their number. */
export async function failLateTasks(sql: Queryable): Promise<number> {
  const rows = await sql`
    update ai_images.tasks
    set status = 3, finished_at = now(),
        failure = jsonb_build_object('name', 'too_late', 'values',
          jsonb_build_object('minutes', ceil(extract(epoch from deadline_at - created_at) / 60)::int))
    where status = 1 and deadline_at < now() returning id`;
  return rows.length;
}

/** Running tasks without a job: it was discarded, or its worker ended. A job locked before `lockedSince` does not count. */
export async function selectTasksWithoutJob(sql: Queryable, lockedSince: Date): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select t.id from ai_images.tasks t
    where t.status = 1 and not ${hasOpenJob(sql, sql`${jobKeyPrefix} || t.id`, lockedSince)}
    order by t.id limit 100`;
  return rows.map(({ id }) => id);
}
