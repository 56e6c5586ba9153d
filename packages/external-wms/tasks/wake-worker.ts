import type { Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs } from '@tradepost/runtime';

/** The job that delivers due tasks. */
export const deliverTask = 'inventory.deliver';

/** So many transactions can enqueue a delivery at once without waiting for each other's job. */
const lanes = 8;
let lane = 0;

/** Enqueues a delivery that runs as soon as this transaction is committed, or at `runAt`. */
export function wakeWorker(tx: Transaction, runAt: Date | null = null): Statement {
  lane = (lane + 1) % lanes;
  // The key of a later job has its second, so that a later transaction does not postpone the job of an earlier one.
  const second = runAt && Math.ceil(runAt.getTime() / 1000);
  const key = `${deliverTask}:${second ? `later:${second}:` : ''}${lane}`;
  return enqueueJobs(tx, [{ task: deliverTask, payload: {}, key, ...(runAt ? { runAt } : {}) }]);
}
