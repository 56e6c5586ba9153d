import { enqueueJobs, forgetFailedJobs, type Log, type Runtime } from '@tradepost/runtime';
import { missingSettings, workerInterval } from '../settings.ts';
import { type Delivered, deliverTasks, type TaskDeps } from './deliver-tasks.ts';
import { deliverTask } from './wake-worker.ts';

/** A job delivers for this time. Then it ends, so that other jobs get its slot. */
const jobMs = 10_000;

/** Makes the job that delivers due tasks and enqueues the next poll. `onDelivered` is called with the counts of each delivery. */
export function openDeliveryJob(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>,
  deps: TaskDeps,
  onDelivered: (delivered: Delivered) => void,
): (log: Log, signal: AbortSignal) => Promise<void> {
  const { settings, sql } = runtime;
  /** Set by a job that starts while a delivery runs in this process. The running delivery then polls once more. */
  let isRequested = false;
  let running = false;
  let deletedAt = Number.NEGATIVE_INFINITY;
  /** Deletes failed delivery jobs. They stay when another job was enqueued meanwhile, and nothing depends on them. */
  const deleteFailedJobs = async () => {
    if (performance.now() - deletedAt < 60_000) return;
    deletedAt = performance.now();
    await forgetFailedJobs(sql, deliverTask);
  };
  return async (log, signal) => {
    // While settings of the partner are missing, the tasks wait, so that they do not use up their attempts.
    if (missingSettings(settings).length > 0) return;
    isRequested = true;
    // One delivery at a time, so that a partner that hangs does not block all slots of the worker.
    if (running) return;
    running = true;
    let nextDue: Date | null = null;
    try {
      await deleteFailedJobs();
      const end = AbortSignal.any([signal, AbortSignal.timeout(jobMs)]);
      while (isRequested && !end.aborted) {
        isRequested = false;
        const delivered = await deliverTasks(deps, { log, signal: end });
        onDelivered(delivered);
        nextDue = delivered.nextDue;
      }
      // The next job continues the delivery, after other jobs that are due.
      if (end.aborted) nextDue ??= runtime.now();
    } finally {
      running = false;
    }
    // The next job is enqueued also while this process stops, because another worker can run it.
    if (!nextDue) return;
    // All workers share one scheduled poll. It runs when the next task is due, and at the latest after the interval.
    const latest = runtime.now().getTime() + settings.get(workerInterval) * 1000;
    const runAt = new Date(Math.min(Math.max(nextDue.getTime(), runtime.now().getTime() + 50), latest));
    await sql.begin((tx) => enqueueJobs(tx, [{ task: deliverTask, payload: {}, key: `${deliverTask}:next`, runAt }]));
  };
}
