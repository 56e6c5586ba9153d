import { createConcurrencyLimit, type Runtime, type Tasks } from '@tradepost/runtime';
import { z } from 'zod';
import { maxTasksPerProcess } from '../limits.ts';
import { requestSeconds } from '../settings.ts';
import { runTask, type TaskDeps } from './run-task.ts';
import { enqueueAttempts, generateTask, watchTask } from './task-jobs.ts';
import { failLateTasks, selectTasksWithoutJob } from './task-store.ts';

const payloadSchema = z.object({ task_id: z.int().min(1) });
/** The pause of a job that finds no slot. */
const noSlotMs = 2_000;
/** Longer than storing the pictures takes. */
const storeMs = 5 * 60_000;

type JobDeps = TaskDeps & { readonly runtime: Pick<Runtime, 'config'> };

/**
 * The jobs of a worker. A service takes up to minutes, so image tasks get at most half of the slots of a worker: other jobs, such
 * as login codes and expiring orders, do not wait for them.
 */
export function imageJobs(deps: JobDeps): Tasks {
  const { sql, settings, config, now } = deps.runtime;
  const active = Math.max(1, Math.min(maxTasksPerProcess, Math.floor(config.workerConcurrency / 2)));
  const slots = createConcurrencyLimit({ active, queued: 0 });
  return {
    async [generateTask](payload, { log, signal }) {
      const { task_id } = payloadSchema.parse(payload);
      if (!(await slots.acquire())) {
        const later = new Date(now().getTime() + noSlotMs);
        await sql.begin((tx) => enqueueAttempts(tx, [task_id], later));
        return;
      }
      try {
        await runTask(deps, task_id, { log, signal });
      } finally {
        slots.release();
      }
    },
    async [watchTask](_payload, { log }) {
      const late = await failLateTasks(sql);
      if (late > 0) {
        deps.metrics.tasks.inc({ result: 'failed' }, late);
        log.warn({ tasks: late }, 'image tasks were not done before their deadline');
      }
      const lockedSince = new Date(now().getTime() - settings.get(requestSeconds) * 1_000 - storeMs);
      const lost = await selectTasksWithoutJob(sql, lockedSince);
      if (lost.length > 0) await sql.begin((tx) => enqueueAttempts(tx, lost));
    },
  };
}
