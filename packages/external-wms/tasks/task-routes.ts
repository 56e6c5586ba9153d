import { defineRoute, idParams, list, type Route } from '@tradepost/http';
import type { WriteOrderStatus } from '@tradepost/inventory';
import { actingRuntime, type Runtime, timeZone } from '@tradepost/runtime';
import { externalWmsErrors as errors } from '../errors.ts';
import { retryTaskBatch } from './manage-tasks.ts';
import { selectTasks } from './task-list-store.ts';
import { retriedSchema, taskListQuery, taskSchema, taskView } from './task-schemas.ts';

const listed = 50;

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'groupCommit'>;
  writeOrderStatus: WriteOrderStatus;
};

export function taskRoutes({ runtime, writeOrderStatus }: Deps): Route[] {
  const { sql, settings } = runtime;
  const retry = runtime.groupCommit<number, true>('retry_tasks', (ids, record, actor) =>
    retryTaskBatch({ runtime: actingRuntime(runtime, actor), writeOrderStatus }, ids, record),
  );
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/inventory/tasks',
      auth: 'staff',
      permission: 'system:config',
      tag: 'Inventory',
      summary: `The last ${listed} tasks for the external warehouse, newest first`,
      query: taskListQuery,
      response: list(taskSchema, listed),
      statements: 1,
      async handle({ query }) {
        const zone = settings.get(timeZone);
        return (await selectTasks(sql, query, listed)).map((task) => taskView(task, zone));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/inventory/tasks/:id/retry',
      auth: 'staff',
      permission: 'system:config',
      tag: 'Inventory',
      summary: 'Retry a failed task with all its attempts; its order is pending again',
      params: idParams,
      response: retriedSchema,
      refuses: [errors.task_not_found, errors.task_not_failed, errors.task_without_order, errors.later_task],
      repeat: 'recorded',
      statements: 13,
      async handle({ params, claim, actor }) {
        await retry(params.id, claim, actor);
        return { retried: params.id };
      },
    }),
  ];
}
