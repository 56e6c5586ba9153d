import type { AppError } from '@tradepost/core';
import { reopenRemoteReservations, settleRemoteReservations, type WriteOrderStatus } from '@tradepost/inventory';
import { writeTransaction } from '@tradepost/postgres';
import type { RecordOutcomes, Runtime } from '@tradepost/runtime';
import { externalWmsErrors as errors } from '../errors.ts';
import { isPreReservation } from './dead-letter-tasks.ts';
import { isOpen, settleTasks } from './settle-tasks.ts';
import { selectFailedTasks } from './task-list-store.ts';
import { type LockedTask, lockTasks, selectLaterTasks, type TaskMove } from './task-store.ts';
import { wakeWorker } from './wake-worker.ts';

export type ManageDeps = { runtime: Pick<Runtime, 'sql' | 'now'>; writeOrderStatus: WriteOrderStatus };
export type Managed = { done: number[]; refused: { id: number; refusal: AppError }[] };

const batchSize = 500;

type Later = Awaited<ReturnType<typeof selectLaterTasks>>[number];

/**
 * Whether a later task of the same document forbids the retry: tasks are delivered in their order, and a released order
 * is not reserved again.
 */
const forbidsRetry = (task: LockedTask, later: Later) =>
  later.status !== 'failed' || (task.action === 'reserve' && later.action === 'release');

function refusalOf(task: LockedTask | undefined, laters: readonly Later[]): AppError | null {
  if (!task) return errors.task_not_found();
  if (task.status !== 'failed') return errors.task_not_failed({ status: task.status });
  if (isPreReservation(task)) return errors.task_without_order();
  return laters.some((later) => later.id === task.id && forbidsRetry(task, later)) ? errors.later_task() : null;
}

/** Makes failed tasks and their orders pending. The attempts start again. Returns true or the refusal of each id. */
export async function retryTaskBatch(
  { runtime, writeOrderStatus }: ManageDeps,
  ids: readonly number[],
  record?: RecordOutcomes<true>,
): Promise<(true | AppError)[]> {
  const now = runtime.now();
  return writeTransaction(runtime.sql, async (tx) => {
    const tasks = await lockTasks(tx, { ids });
    const taskOf = new Map(tasks.map((task) => [task.id, task]));
    const decide = async () => {
      const laters = await selectLaterTasks(tx, ids);
      return new Map(ids.map((id) => [id, refusalOf(taskOf.get(id), laters)]));
    };
    const decided = await decide();
    const ofOrders = tasks.filter((task) => task.has_order && decided.get(task.id) === null);
    const numbers = [...new Set(ofOrders.map((task) => task.biz_no))];
    // This write locks the orders. The decision is then repeated, because a payment or cancellation may have added a task.
    if (numbers.length > 0)
      await writeOrderStatus(
        tx,
        numbers.map((order_no) => ({ order_no, status: 'pending' })),
      );
    const refusals = numbers.length > 0 ? await decide() : decided;
    const retried = tasks.filter((task) => refusals.get(task.id) === null);
    const moves = retried.map(
      ({ id, last_code, last_error }): TaskMove => ({
        ...{ id, to: 'pending', next: now, code: last_code, error: last_error },
        ...{ resetAttempts: true, writesOrder: true },
      }),
    );
    const reserves = retried.filter((task) => task.action === 'reserve' && task.has_order);
    if (reserves.length > 0) {
      const reserved = reserves.map((task) => task.biz_no);
      const laters = await selectLaterTasks(
        tx,
        reserves.map((task) => task.id),
      );
      const paid = reserves.filter(({ id }) => laters.some((later) => later.id === id && later.action === 'confirm'));
      await reopenRemoteReservations(tx, reserved, now);
      const paidNos = paid.map((task) => task.biz_no);
      if (paidNos.length > 0) await settleRemoteReservations(tx, paidNos, 'confirmed');
    }
    await settleTasks(tx, { writeOrderStatus, wake: false }, tasks, moves, now);
    // When a task is in the batch twice, the first request retries it.
    const value = ids.map(
      (id, index) =>
        refusals.get(id) ?? (ids.indexOf(id) === index || errors.task_not_failed({ status: 'pending' as const })),
    );
    const last = moves.length > 0 ? [wakeWorker(tx), ...(record?.(tx, value) ?? [])] : [];
    return { value, last };
  });
}

async function inBatches(
  ids: readonly number[],
  manage: (ids: readonly number[]) => Promise<(true | AppError)[]>,
): Promise<Managed> {
  const result: Managed = { done: [], refused: [] };
  const distinct = [...new Set(ids)];
  for (let start = 0; start < distinct.length; start += batchSize) {
    const batch = distinct.slice(start, start + batchSize);
    const outcomes = await manage(batch);
    batch.forEach((id, index) => {
      const outcome = outcomes[index]!;
      if (outcome === true) result.done.push(id);
      else result.refused.push({ id, refusal: outcome });
    });
  }
  return result;
}

/** Retries these tasks, or all failed tasks, for an operator. */
export async function retryTasks(deps: ManageDeps, which: readonly number[] | { failed: true }): Promise<Managed> {
  const retry = (ids: readonly number[]) => inBatches(ids, (batch) => retryTaskBatch(deps, batch));
  if (!('failed' in which)) return retry(which);
  const result: Managed = { done: [], refused: [] };
  let after = 0;
  for (;;) {
    const ids = await selectFailedTasks(deps.runtime.sql, after, batchSize);
    if (ids.length === 0) return result;
    const { done, refused } = await retry(ids);
    result.done.push(...done);
    result.refused.push(...refused);
    after = ids.at(-1)!;
  }
}

/** Ends open tasks as failed, for an operator. The operator must undo what the partner has already done. */
export async function failTasks(
  { runtime, writeOrderStatus }: ManageDeps,
  ids: readonly number[],
  reason: string,
): Promise<Managed> {
  return inBatches(ids, (batch) => {
    const now = runtime.now();
    return writeTransaction(runtime.sql, async (tx) => {
      const tasks = await lockTasks(tx, { ids: batch });
      const taskOf = new Map(tasks.map((task) => [task.id, task]));
      const value = batch.map((id) => {
        const task = taskOf.get(id);
        if (!task) return errors.task_not_found();
        if (!isOpen(task)) return errors.task_ended({ status: task.status });
        // The caller of a pre-reservation handles its answer. If the caller is gone, a worker releases it soon.
        return isPreReservation(task) ? errors.task_awaited() : (true as const);
      });
      const moves = batch.flatMap((id, index): TaskMove[] =>
        value[index] === true ? [{ id, to: 'failed', next: null, code: taskOf.get(id)!.last_code, error: reason }] : [],
      );
      await settleTasks(tx, { writeOrderStatus, wake: true }, tasks, moves, now);
      return { value, last: [] };
    });
  });
}
