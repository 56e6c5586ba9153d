import type { Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs } from '@tradepost/runtime';

/** The job that delivers what is due. */
export const deliverTask = 'inventory.deliver';

/** As many transactions at once can ask for a delivery without waiting for each other, and as many workers can follow. */
const lanes = 8;
let lane = 0;

/** Has a worker look for due tasks as soon as this transaction is committed, or at `runAt`. */
export function wakeWorker(tx: Transaction, runAt: Date | null = null): Statement {
  lane = (lane + 1) % lanes;
  // A job's key with its second: a later transaction must not push out the look that an earlier one was promised.
  const second = runAt && Math.ceil(runAt.getTime() / 1000);
  const key = `${deliverTask}:${second ? `later:${second}:` : ''}${lane}`;
  return enqueueJobs(tx, [{ task: deliverTask, payload: {}, key, ...(runAt ? { runAt } : {}) }]);
}
