import type { Transaction } from '@tradepost/postgres';
import { enqueueJobs } from '@tradepost/runtime';

export const generateTask = 'ai_images.generate';
export const watchTask = 'ai_images.watch';
/** The key of the job of a task, before its id. */
export const jobKeyPrefix = 'ai_images.generate:';
/** Shoppers wait for other jobs, such as login codes. */
const priority = 20;

/** Enqueues the attempts of tasks. Of the jobs of one task at most one waits. */
export async function enqueueAttempts(tx: Transaction, ids: readonly number[], runAt?: Date): Promise<void> {
  await enqueueJobs(
    tx,
    ids.map((id) => ({
      ...{ task: generateTask, payload: { task_id: id }, key: `${jobKeyPrefix}${id}`, priority },
      ...(runAt ? { runAt } : {}),
    })),
  );
}
