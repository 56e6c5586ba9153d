import type { WriteOrderStatus } from '@tradepost/inventory';
import { writeTransaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { backoffSeconds, callbackDeadline, maxAttempts } from '../settings.ts';
import { isOpen, settleTasks } from './settle-tasks.ts';
import type { NewTask } from './task.ts';
import { insertTasks, type LockedTask, lockTasks, type TaskMove } from './task-store.ts';

export type DeadLettered = { failed: number; abandoned: number };

type Deps = { runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'log'>; writeOrderStatus: WriteOrderStatus };

/** Whether the task is a pre-reservation. Its caller waits for the answer and then writes the order. */
export const isPreReservation = (task: Pick<LockedTask, 'mode' | 'action'>) =>
  task.mode === 'sync' && task.action === 'reserve';

/**
 * Ends tasks that are not delivered any more. A pre-reservation whose order was not written in time is released in the same
 * transaction. It is unknown whether the partner has reserved, and a release without a reservation does no harm.
 */
export async function deadLetterTasks(
  { runtime, writeOrderStatus }: Deps,
  ids: readonly number[],
): Promise<DeadLettered> {
  const { settings, sql, log } = runtime;
  const now = runtime.now();
  const reasonOf = (task: LockedTask): string => {
    if (isPreReservation(task)) return 'the order was not written';
    if (task.accepted_at) return `no callback within ${settings.get(callbackDeadline)} s`;
    return task.status === 'processing' ? 'the worker died before the answer was stored' : 'the attempts are used up';
  };
  const ended = await writeTransaction(sql, async (tx) => {
    const tasks = await lockTasks(tx, { ids });
    // A callback, a late answer or another worker may have ended the task meanwhile.
    const due = tasks.filter((task) => isOpen(task) && task.next_retry_at <= now);
    const expired = due.filter((task) => isPreReservation(task) || task.attempt_count >= task.max_attempts);
    const moves = expired.map(
      (task): TaskMove => ({ id: task.id, to: 'failed', next: null, code: task.last_code, error: reasonOf(task) }),
    );
    await settleTasks(tx, { writeOrderStatus, wake: false }, tasks, moves, now);
    const releases = expired.filter(isPreReservation).map(({ biz_type, biz_no }): NewTask => {
      const payload = { biz_type, biz_no, reason: 'order_not_written' };
      return { biz_type, biz_no, action: 'release', payload };
    });
    const values = {
      mode: 'async' as const,
      maxAttempts: settings.get(maxAttempts),
      backoffSeconds: settings.get(backoffSeconds),
      now,
      skipExisting: true,
    };
    return { value: expired, last: releases.length > 0 ? [insertTasks(tx, releases, values)] : [] };
  });
  for (const task of ended)
    log.warn({ task: task.id, request_id: task.request_id, reason: reasonOf(task) }, 'a warehouse task has failed');
  const abandoned = ended.filter(isPreReservation).length;
  return { failed: ended.length - abandoned, abandoned };
}
