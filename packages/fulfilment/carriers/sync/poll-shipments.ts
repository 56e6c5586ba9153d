import { groupCommit } from '@tradepost/postgres';
import { carrierMetrics } from '../carrier-metrics.ts';
import { companyCodes } from '../companies.ts';
import { carrierConcurrency, pollingBatchSize } from '../settings.ts';
import { type ClaimedShipment, claimDueShipments, selectDue } from './claim-store.ts';
import { queryShipment, type SyncResult } from './query-shipment.ts';
import { storeResults } from './store-results.ts';
import { claimEnd, phonesFor, type SyncDeps } from './sync-deps.ts';

export type Polled = {
  /** Shipments whose carriers were queried. */
  queried: number;
  found: number;
  /** Failed with every driver that was asked. They are queried again after a growing pause. */
  failed: number;
  /** Not queried, because the services of their carriers do not answer at the moment. */
  postponed: number;
  /** When the next shipment is due; null when none is on its way. */
  next_due: Date | null;
};

const resultsPerTransaction = 100;

/**
 * Queries the carriers of all shipments that are due, until none is. Several polls can run at once, in one process or in
 * many: each shipment is claimed by one of them. A `signal` ends the claiming, and the queries that run are finished.
 * `abort` ends these too.
 */
export async function pollShipments(
  deps: SyncDeps,
  { signal, abort }: { signal: AbortSignal; abort?: AbortSignal },
): Promise<Polled> {
  const { runtime, router, client } = deps;
  const { sql, settings, now } = runtime;
  const counts = { found: 0, failed: 0, postponed: 0 };
  const failures: unknown[] = [];
  const running = new Set<Promise<void>>();
  const store = groupCommit<SyncResult, null>(
    (results) =>
      sql.begin(async (tx) => {
        await storeResults(tx, settings, results, now());
        return results.map(() => null);
      }),
    { maxBatch: resultsPerTransaction, maxInFlight: 2 },
  );

  const sync = async (shipment: ClaimedShipment, phone: string): Promise<void> => {
    // A shipment that waits for its turn when the poll is stopped is not queried.
    const options = { byHand: false, stopping: signal, signal: abort };
    const result = await queryShipment({ router, client }, shipment, phone, options);
    await store(result);
    counts[result.kind] += 1;
  };
  const start = (shipment: ClaimedShipment, phone: string) => {
    const one: Promise<void> = sync(shipment, phone)
      // The shipment stays claimed, and is due again when its claim ends.
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
  };
  const claim = async (): Promise<boolean> => {
    const at = now();
    const batch = settings.get(pollingBatchSize);
    const claimed = await claimDueShipments(sql, { now: at, until: claimEnd(at), batch, companies: companyCodes });
    const phones = await phonesFor(sql, claimed);
    for (const shipment of claimed) start(shipment, phones.get(shipment.order_id) ?? '');
    return claimed.length > 0;
  };

  const { due } = carrierMetrics(runtime.metrics);
  due.set((await selectDue(sql, now(), companyCodes)).due);
  try {
    for (let more = true; more && !signal.aborted && failures.length === 0; ) {
      // The next batch is claimed before the queries of the last one have ended, so that no connection is idle.
      if (running.size < 2 * settings.get(carrierConcurrency)) more = await claim();
      else await Promise.race(running);
    }
  } catch (error) {
    failures.push(error);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  const left = await selectDue(sql, now(), companyCodes);
  due.set(left.due);
  const next_due = left.due > 0 ? now() : left.next_due;
  return { queried: counts.found + counts.failed, ...counts, next_due };
}
