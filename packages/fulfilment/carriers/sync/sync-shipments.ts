import type { Write } from '@tradepost/runtime';
import { claimShipments } from './claim-store.ts';
import { queryShipment, type SyncResult } from './query-shipment.ts';
import { storeResults } from './store-results.ts';
import { claimEnd, phonesFor, type SyncDeps } from './sync-deps.ts';

/**
 * Queries the carriers of these shipments now, due or not, and stores the answers. Local deliveries, shipments without a
 * tracking number and those that another process queries at this moment are left out. The network is used between two
 * transactions, not within one. `byHand` queries also a service that did not answer lately. Returns the results; a failed
 * query is a result too.
 */
export async function syncShipments(
  { runtime, router, client }: SyncDeps,
  ids: readonly number[],
  write: Write,
  { signal, byHand = false }: { signal?: AbortSignal; byHand?: boolean } = {},
): Promise<SyncResult[]> {
  const { sql, settings, now } = runtime;
  const claimed = await claimShipments(sql, ids, { now: now(), until: claimEnd(now()) });
  const phones = await phonesFor(sql, claimed);
  const results = await Promise.all(
    claimed.map((shipment) =>
      queryShipment({ router, client }, shipment, phones.get(shipment.order_id) ?? '', { byHand, signal }),
    ),
  );
  // Written also without results, so that the outcome is recorded under the key of the request.
  await write(async (tx) => {
    if (results.length > 0) await storeResults(tx, settings, results, now());
    return null;
  });
  return results;
}
