import type { Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs, type Log, sweepJob } from '@tradepost/runtime';
import { LRUCache } from 'lru-cache';
import { selectExpiredOrders } from './order-store.ts';
import { type CancelDeps, cancelOrders } from './settle-orders.ts';

export const expireTask = 'orders.expire';
const batch = 200;

/** The statement that enqueues the sweep, and a function to call after the commit. Null when the sweep is enqueued already. */
export type ExpirySchedule = (tx: Transaction, expiresAt: Date) => { statement: Statement; committed(): void } | null;

/**
 * Enqueues one sweep for each quarter of a minute in which orders expire, together with the first of them. This costs
 * less than one job per order and is as durable: an order either commits its sweep in its own transaction, or finds a
 * sweep that was committed before.
 */
export function openExpirySchedule(): ExpirySchedule {
  /** Sweeps for which this process has committed a job. The key of the job prevents a second job of another process. */
  const scheduled = new LRUCache<string, true>({ max: 1_000 });
  return (tx, expiresAt) => {
    const job = sweepJob(expireTask, expiresAt);
    if (scheduled.has(job.key)) return null;
    return {
      statement: enqueueJobs(tx, [job]),
      committed() {
        scheduled.set(job.key, true);
      },
    };
  };
}

/**
 * Cancels all unpaid orders that have expired, and returns their number. It may run late or twice, because each update is
 * guarded by the state. An order that fails is logged and skipped, so that the others are cancelled.
 */
export async function expireOrders(
  deps: CancelDeps,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<number> {
  const failed: number[] = [];
  let cancelled = 0;
  const cancel = async (ids: readonly number[]) => {
    const outcomes = await cancelOrders(
      deps,
      ids.map((order_id) => ({ order_id, user_id: null })),
      'timeout',
    );
    cancelled += outcomes.filter((outcome) => outcome === true).length;
  };
  while (!signal.aborted) {
    const ids = await selectExpiredOrders(deps.runtime.sql, deps.runtime.now(), batch, failed);
    if (ids.length === 0) break;
    try {
      await cancel(ids);
    } catch (error) {
      log.warn({ err: error }, 'a batch of expired orders was not cancelled; each order is tried alone');
      for (const id of ids)
        await cancel([id]).catch((reason: unknown) => {
          failed.push(id);
          log.error({ err: reason, order_id: id }, 'an expired order was not cancelled');
        });
    }
  }
  return cancelled;
}
