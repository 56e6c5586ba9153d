import { enqueueJobs, forgetFailedJobs, type Log, type Runtime } from '@tradepost/runtime';
import { missingSettings, workerInterval } from '../settings.ts';
import { type Delivered, deliverTasks, type TaskDeps } from './deliver-tasks.ts';
import { deliverTask } from './wake-worker.ts';

/** How long one job delivers before other jobs get its slot. */
const jobMs = 10_000;

/** The job that delivers due tasks and enqueues the next poll. `onDelivered` is called with what each delivery has done. */
export function openDeliveryJob(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>,
  deps: TaskDeps,
  onDelivered: (delivered: Delivered) => void,
): (log: Log, signal: AbortSignal) => Promise<void> {
  const { settings, sql } = runtime;
  /** A job has asked for a delivery while one runs here: that one polls once more. */
  let asked = false;
  let running = false;
  let tidiedAt = Number.NEGATIVE_INFINITY;
  /** A delivery that failed while another was enqueued stays as a failed job, on which nothing depends. */
  const tidyJobs = async () => {
    if (performance.now() - tidiedAt < 60_000) return;
    tidiedAt = performance.now();
    await forgetFailedJobs(sql, deliverTask);
  };
  return async (log, signal) => {
    // While the settings of the partner are missing, tasks wait instead of using up their attempts.
    if (missingSettings(settings).length > 0) return;
    asked = true;
    // One at a time: a partner that hangs must not take the slots of all other jobs.
    if (running) return;
    running = true;
    let nextDue: Date | null = null;
    try {
      await tidyJobs();
      const turn = AbortSignal.any([signal, AbortSignal.timeout(jobMs)]);
      while (asked && !turn.aborted) {
        asked = false;
        const delivered = await deliverTasks(deps, { log, signal: turn });
        onDelivered(delivered);
        nextDue = delivered.nextDue;
      }
      // The delivery goes on in a job of its own, after other jobs that are due.
      if (turn.aborted) nextDue ??= runtime.now();
    } finally {
      running = false;
    }
    // Also while this process is stopping: another worker continues.
    if (!nextDue) return;
    // One scheduled poll for all workers, when the next task is due and at the latest after the interval.
    const latest = runtime.now().getTime() + settings.get(workerInterval) * 1000;
    const runAt = new Date(Math.min(Math.max(nextDue.getTime(), runtime.now().getTime() + 50), latest));
    await sql.begin((tx) => enqueueJobs(tx, [{ task: deliverTask, payload: {}, key: `${deliverTask}:next`, runAt }]));
  };
}
