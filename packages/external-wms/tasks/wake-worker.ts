import type { Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs } from '@tradepost/runtime';

/** The job that delivers due tasks. */
export const deliverTask = 'inventory.deliver';

/**
 * The number of job keys. This many transactions can enqueue a delivery at once without waiting for each other's job.
 */
const keyCount = 8;
let keyIndex = 0;

/** Enqueues a delivery that runs when this transaction is committed, or at `runAt`. */
export function wakeWorker(tx: Transaction, runAt: Date | null = null): Statement {
  keyIndex = (keyIndex + 1) % keyCount;
  // The key of a delayed job contains its second, so that a later transaction does not postpone it.
  const second = runAt && Math.ceil(runAt.getTime() / 1000);
  const key = `${deliverTask}:${second ? `later:${second}:` : ''}${keyIndex}`;
  return enqueueJobs(tx, [{ task: deliverTask, payload: {}, key, ...(runAt ? { runAt } : {}) }]);
}
