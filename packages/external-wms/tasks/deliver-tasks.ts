import type { WriteOrderStatus } from '@tradepost/inventory';
import { groupCommit, writeTransaction } from '@tradepost/postgres';
import type { Log, Runtime } from '@tradepost/runtime';
import type { CallOutcome, ExternalClient } from '../protocol/client.ts';
import { callbackDeadline, callbackEnabled, externalTimeoutMs, workerInterval } from '../settings.ts';
import { deadLetterTasks } from './dead-letter-tasks.ts';
import { settleTasks } from './settle-tasks.ts';
import { type ClaimedTask, claimDueTasks, releaseTasks, selectNextDue } from './task-claim-store.ts';
import { type LockedTask, lockTasks, type TaskMove } from './task-store.ts';

export type TaskDeps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'log'>;
  client: ExternalClient;
  /** The name under which this process claims tasks. It differs in every process. */
  owner: string;
  /** The mode with which the process has started. In sync mode code 0 ends a task. */
  mode(): 'sync' | 'async';
  writeOrderStatus: WriteOrderStatus;
};

export type Delivered = {
  /**
   * Calls that were made. Each also counts in one of the next four fields, unless another worker or a callback has
   * ended its task meanwhile.
   */
  delivered: number;
  succeeded: number;
  /** The partner has accepted the task and will call back. */
  accepted: number;
  retried: number;
  /** The partner has refused, or all attempts are used up. */
  failed: number;
  /** Pre-reservations that were dead-lettered because their orders were not written. */
  abandoned: number;
  /** When the next open task is due. */
  nextDue: Date | null;
};

type Options = {
  log: Log;
  /** Stops the claiming. Running calls are finished, and their answers are stored. */
  signal: AbortSignal;
  /** Deliver only the tasks of these orders, each at most once. */
  bizNos?: readonly string[];
  batch?: number;
  concurrency?: number;
};

type Answer = { task: ClaimedTask; outcome: CallOutcome };
type Ended = 'succeeded' | 'accepted' | 'retried' | 'failed' | 'superseded';

/** The lock of a task lasts for its calls and this time, which allows for writes and a slow start. */
const spareMs = 30_000;
const later = (now: Date, ms: number) => new Date(now.getTime() + ms);

/** The move of a task after this outcome of its call. */
function moveOf(task: LockedTask, outcome: CallOutcome, deps: TaskDeps, now: Date): { move: TaskMove; ended: Ended } {
  const { settings } = deps.runtime;
  const { id } = task;
  const { kind, code } = outcome;
  if (kind === 'success') {
    if (deps.mode() === 'async' && task.mode === 'async' && settings.get(callbackEnabled)) {
      const next = later(now, settings.get(callbackDeadline) * 1000);
      return { move: { id, to: 'accepted', next, code, error: '' }, ended: 'accepted' };
    }
    return { move: { id, to: 'success', next: null, code, error: '' }, ended: 'succeeded' };
  }
  const error = outcome.message;
  if (kind === 'refused' || task.attempt_count >= task.max_attempts)
    return { move: { id, to: 'failed', next: null, code, error }, ended: 'failed' };
  const next = later(now, task.backoff_seconds * 1000);
  return { move: { id, to: 'pending', next, code, error }, ended: 'retried' };
}

/** Stores the answers of the partner. An answer is dropped when a callback or another worker has changed the task since the claim. */
async function storeAnswers(deps: TaskDeps, answers: readonly Answer[]): Promise<Ended[]> {
  const { runtime, owner, writeOrderStatus } = deps;
  const now = runtime.now();
  return writeTransaction(runtime.sql, async (tx) => {
    const tasks = await lockTasks(tx, { ids: answers.map(({ task }) => task.id) });
    const taskOf = new Map(tasks.map((task) => [task.id, task]));
    const moves: TaskMove[] = [];
    const value = answers.map(({ task: { id, attempt_count }, outcome }): Ended => {
      const task = taskOf.get(id);
      if (task?.status !== 'processing' || task.lock_owner !== owner || task.attempt_count !== attempt_count)
        return 'superseded';
      const { move, ended } = moveOf(task, outcome, deps, now);
      moves.push(move);
      return ended;
    });
    await settleTasks(tx, { writeOrderStatus, wake: false }, tasks, moves, now);
    return { value, last: [] };
  });
}

/**
 * Calls the partner. Returns null without a call when this process has paused so long that the lock could expire during
 * the call.
 */
function callPartner(
  { runtime, client }: TaskDeps,
  { request_id, action, payload, lock_expires_at }: ClaimedTask,
  signal: AbortSignal | undefined,
): Promise<CallOutcome> | null {
  const timeoutMs = runtime.settings.get(externalTimeoutMs);
  if (later(runtime.now(), timeoutMs) > lock_expires_at) return null;
  return client.call(action, payload, { requestId: request_id, timeoutMs, ...(signal ? { signal } : {}) });
}

function warnOfFailure(log: Log, { id, request_id }: ClaimedTask, { code, message }: CallOutcome): void {
  log.warn({ task: id, request_id, code, message }, 'a warehouse task has failed');
}

/**
 * Delivers due tasks until no task is due. Several deliveries can run at the same time, in one process or in many. Each task is
 * claimed by one delivery, and an answer is stored only while the claim is valid. The tasks of a killed process stay `processing`
 * until their locks expire. Then they are delivered again under the same idempotency key.
 */
export async function deliverTasks(deps: TaskDeps, options: Options): Promise<Delivered> {
  const { runtime, owner } = deps;
  const { sql, settings } = runtime;
  const { log, signal, bizNos, batch = 100, concurrency = 32 } = options;
  const counts = { delivered: 0, succeeded: 0, accepted: 0, retried: 0, failed: 0, abandoned: 0, superseded: 0 };
  const store = groupCommit<Answer, Ended>((answers) => storeAnswers(deps, answers), {
    maxBatch: batch,
    maxInFlight: 2,
  });
  const running = new Set<Promise<void>>();
  const done: number[] = [];
  let queue: ClaimedTask[] = [];
  const failures: unknown[] = [];

  /** Claims tasks into the empty queue. Returns whether any task was due. */
  const claim = async (): Promise<boolean> => {
    const now = runtime.now();
    // The lock covers one round of calls more than the queue needs, because other calls are already running.
    const rounds = Math.ceil(batch / concurrency) + 1;
    const { seen, claimed, overdue } = await claimDueTasks(sql, {
      ...{ owner, now, batch },
      lockedTo: later(now, settings.get(externalTimeoutMs) * rounds + spareMs),
      postponedTo: later(now, settings.get(workerInterval) * 1000),
      ...(bizNos ? { of: { bizNos, except: done } } : {}),
    });
    queue = claimed;
    if (bizNos) done.push(...claimed.map((task) => task.id));
    if (overdue.length > 0) {
      const deadLettered = await deadLetterTasks(deps, overdue);
      counts.failed += deadLettered.failed;
      counts.abandoned += deadLettered.abandoned;
    }
    // With `bizNos`, blocked tasks are found by every claim, so they do not count. Otherwise a blocked task is postponed, and other
    // due tasks may come after it.
    return (bizNos ? claimed.length + overdue.length : seen) > 0;
  };

  const deliver = async (task: ClaimedTask): Promise<void> => {
    // With `bizNos` a caller waits for these tasks, and the signal also ends the calls.
    const calling = callPartner(deps, task, bizNos ? signal : undefined);
    if (!calling) return;
    counts.delivered += 1;
    const outcome = await calling;
    const ended = await store({ task, outcome });
    counts[ended] += 1;
    if (ended === 'failed') warnOfFailure(log, task, outcome);
  };

  const start = (task: ClaimedTask) => {
    const call: Promise<void> = deliver(task)
      .catch((error: unknown) => {
        // The task stays locked. It is delivered again when the lock expires.
        failures.push(error);
      })
      .finally(() => running.delete(call));
    running.add(call);
  };

  try {
    let more = true;
    while (!signal.aborted && failures.length === 0) {
      if (queue.length === 0 && more) more = await claim();
      while (queue.length > 0 && running.size < concurrency && !signal.aborted) start(queue.shift()!);
      if (queue.length === 0 && more) continue;
      if (running.size === 0) break;
      await Promise.race(running);
      // The answer to this call may have made another task due.
      more = true;
    }
  } catch (error) {
    failures.push(error);
  }
  if (queue.length > 0)
    await releaseTasks(sql, queue, { owner, now: runtime.now() }).catch((error: unknown) => failures.push(error));
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  const { superseded, ...totals } = counts;
  if (superseded > 0) log.debug({ superseded }, 'answers came after their tasks had ended');
  return { ...totals, nextDue: await selectNextDue(sql) };
}
