import type { Statement, Transaction } from '@tradepost/postgres';
import { enqueueJobs, type Runtime, recordEvents, sweepJob } from '@tradepost/runtime';
import { bargainFailed, factsOf } from '../bargain-events.ts';
import { expiryBatch } from '../limits.ts';
import { failExpiredBargains } from './bargain-store.ts';

export const expireTask = 'bargain.expire';

/** The statement that enqueues the sweep of bargains that expire at this time. */
export const enqueueSweep = (tx: Transaction, expiresAt: Date): Statement =>
  enqueueJobs(tx, [sweepJob(expireTask, expiresAt)]);

/** Fails all open bargains that have expired, and returns their number. It may run late or twice: the update is guarded. */
export async function expireBargains(
  runtime: Pick<Runtime, 'sql' | 'now'>,
  { signal }: { signal: AbortSignal },
): Promise<number> {
  let failed = 0;
  while (!signal.aborted) {
    const ended = await runtime.sql.begin(async (tx) => {
      const now = runtime.now();
      const bargains = await failExpiredBargains(tx, now, expiryBatch);
      if (bargains.length > 0) await recordEvents(tx, bargainFailed, bargains.map(factsOf), now);
      return bargains.length;
    });
    if (ended === 0) break;
    failed += ended;
  }
  return failed;
}
