import type { Inventory } from '@tradepost/inventory';
import type { Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs, type Log, type Runtime } from '@tradepost/runtime';
import { LRUCache } from 'lru-cache';
import { selectExpiredOrders } from './order-store.ts';
import { cancelOrders } from './settle-orders.ts';

export const expireTask = 'orders.expire';
const bucketMs = 15_000;
const batch = 200;

/** The statement that enqueues the sweep, and what to call once it is committed; null when there is one already. */
export type ExpirySchedule = (tx: Transaction, expiresAt: Date) => { statement: Statement; committed(): void } | null;

/**
 * One sweep per quarter minute in which orders run out, enqueued with the first of them. Cheaper than a job per order
 * and as durable: whoever commits an order has committed its sweep, or knows that one was committed before.
 */
export function openExpirySchedule(): ExpirySchedule {
  /** Sweeps for which this process has committed a job. The key of the job prevents a second job of another process. */
  const scheduled = new LRUCache<number, true>({ max: 1_000 });
  return (tx, expiresAt) => {
    const bucket = Math.floor(expiresAt.getTime() / bucketMs) + 1;
    if (scheduled.has(bucket)) return null;
    const runAt = new Date(bucket * bucketMs);
    return {
      statement: enqueueJobs(tx, [{ task: expireTask, payload: {}, runAt, key: `${expireTask}:${bucket}` }]),
      committed() {
        scheduled.set(bucket, true);
      },
    };
  };
}

/**
 * Cancels every unpaid order whose time is over, and answers how many. Harmless when late or repeated: the move is
 * guarded. An order that can not be cancelled is logged and left out, so that it does not hold up the others.
 */
export async function expireOrders(
  deps: { runtime: Pick<Runtime, 'sql' | 'now'>; inventory: Inventory },
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<number> {
  const broken: number[] = [];
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
    const ids = await selectExpiredOrders(deps.runtime.sql, deps.runtime.now(), batch, broken);
    if (ids.length === 0) break;
    try {
      await cancel(ids);
    } catch (error) {
      log.warn({ err: error }, 'a batch of unpaid orders could not be cancelled: going one by one');
      for (const id of ids)
        await cancel([id]).catch((reason: unknown) => {
          broken.push(id);
          log.error({ err: reason, order_id: id }, 'an unpaid order could not be cancelled');
        });
    }
  }
  return cancelled;
}
