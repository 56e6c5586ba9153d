import type { WriteOrderStatus } from '@tradepost/inventory';
import { writeTransaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { externalWmsErrors } from '../errors.ts';
import { callbackDeadline, signatureTtl } from '../settings.ts';
import { isPreReservation } from '../tasks/dead-letter-tasks.ts';
import { isOpen, settleTasks } from '../tasks/settle-tasks.ts';
import { type LockedTask, lockTasks, type TaskMove } from '../tasks/task-store.ts';
import {
  type CallbackOutcome,
  type CallbackRecord,
  type CallbackStatus,
  claimNonces,
  insertCallbacks,
  type KnownCallback,
  lockCallbacks,
  updateCallbacks,
} from './callback-store.ts';

/** A callback of the partner about a task. Its signature was checked. */
export type Callback = {
  request_id: string;
  callback_id: string;
  status: CallbackStatus;
  message: string;
  /** The inner body, byte for byte. */
  body: string;
  nonce: string;
};

export type CallbackReceipt = { received: true };
export type CallbackDeps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings'>;
  writeOrderStatus: WriteOrderStatus;
};

const received: CallbackReceipt = { received: true };

type Known = { tasks: readonly LockedTask[]; before: ReadonlyMap<string, KnownCallback>; freeNonces: Set<string> };

/** Decides callbacks in their order against locked tasks, and collects the rows to write. */
function openDecisions({ tasks, before, freeNonces }: Known, deadline: Date) {
  const taskOf = new Map(tasks.map((task) => [task.request_id, task]));
  const ended = new Set(tasks.filter((task) => !isOpen(task)).map((task) => task.id));
  const moves = new Map<number, TaskMove>();
  const records = new Map<string, CallbackRecord>();

  const record = (callback: Callback, outcome: CallbackOutcome, task: LockedTask | undefined) => {
    const { callback_id, request_id, status, message, body } = callback;
    const known = records.get(callback_id);
    const seen = (known?.seen ?? 0) + 1;
    // A repeat only increases the count, unless the task was unknown before.
    if (known && known.outcome !== 'unknown_task') known.seen = seen;
    else
      records.set(callback_id, {
        ...{ callback_id, request_id, status, message, body, outcome, seen },
        task_id: task?.id ?? null,
      });
  };

  const apply = (task: LockedTask, { callback_id, status, message }: Callback) => {
    const move = { id: task.id, code: task.last_code, callback_id, writesOrder: true };
    if (status === 'processing') moves.set(task.id, { ...move, to: 'accepted', next: deadline, error: '' });
    else {
      const error = status === 'failed' ? message || 'the warehouse reports a failure' : '';
      const code = status === 'success' ? 0 : task.last_code;
      moves.set(task.id, { ...move, to: status, next: null, code, error });
      ended.add(task.id);
    }
  };

  const decide = (callback: Callback): CallbackReceipt | Error => {
    const { request_id, callback_id, nonce } = callback;
    const task = taskOf.get(request_id);
    if (!task) {
      record(callback, 'unknown_task', undefined);
      return externalWmsErrors.callback_unknown_task({ request_id });
    }
    if (!freeNonces.delete(nonce)) return externalWmsErrors.callback_nonce();
    const earlier = records.get(callback_id) ?? before.get(callback_id);
    const repeated = earlier !== undefined && earlier.outcome !== 'unknown_task';
    // This refusal is for a partner that numbers its callbacks per task. Without it, only the first callback with a
    // number would count, and the later ones would be ignored.
    if (repeated && earlier.request_id !== request_id) return externalWmsErrors.callback_id_used({ callback_id });
    // A callback does not end a pre-reservation: the answer to the call decides it, and its order may never be written.
    const counts = !repeated && !ended.has(task.id) && !isPreReservation(task);
    record(callback, counts ? 'applied' : 'ignored', task);
    if (counts) apply(task, callback);
    return received;
  };

  return { decide, moves, records };
}

async function writeCallbacks(
  deps: CallbackDeps,
  callbacks: readonly Callback[],
): Promise<(CallbackReceipt | Error)[]> {
  const { runtime, writeOrderStatus } = deps;
  const now = runtime.now();
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  return writeTransaction(runtime.sql, async (tx) => {
    const requestIds = [...new Set(callbacks.map((callback) => callback.request_id))];
    const tasks = await lockTasks(tx, { requestIds });
    const known = new Set(tasks.map((task) => task.request_id));
    // A refused callback uses no nonce, so that the partner may send the same message again.
    const nonces = [...new Set(callbacks.filter((c) => known.has(c.request_id)).map((c) => c.nonce))];
    const forgottenBefore = later(-2 * runtime.settings.get(signatureTtl));
    const [freeNonces, before] = await Promise.all([
      nonces.length > 0 ? claimNonces(tx, nonces, { now, forgottenBefore }) : new Set<string>(),
      lockCallbacks(tx, [...new Set(callbacks.map((callback) => callback.callback_id))]),
    ]);
    const deadline = later(runtime.settings.get(callbackDeadline));
    const { decide, moves, records } = openDecisions({ tasks, before, freeNonces }, deadline);
    const value = callbacks.map(decide);
    const rows = [...records.values()];
    const [again, first] = [
      rows.filter((r) => before.has(r.callback_id)),
      rows.filter((r) => !before.has(r.callback_id)),
    ];
    if (first.length > 0) await insertCallbacks(tx, first, now);
    if (again.length > 0) await updateCallbacks(tx, again, now);
    await settleTasks(tx, { writeOrderStatus, wake: true }, tasks, [...moves.values()], now);
    return { value, last: [] };
  });
}

/** Two transactions have the same callback_id for different tasks. The later one must decide again. */
const isSharedId = (error: unknown) =>
  (error as { constraint_name?: unknown } | null)?.constraint_name === 'external_callbacks_pkey';

/**
 * Receives callbacks of the partner. A message may arrive several times. A new callback ends its task or renews the deadline of
 * the task. A task that has ended does not change. A callback about an unknown task is stored and refused; a repeat is accepted when
 * the task exists.
 */
export async function receiveCallbacks(
  deps: CallbackDeps,
  callbacks: readonly Callback[],
): Promise<(CallbackReceipt | Error)[]> {
  return writeCallbacks(deps, callbacks).catch((error: unknown) => {
    if (isSharedId(error)) return writeCallbacks(deps, callbacks);
    throw error;
  });
}
