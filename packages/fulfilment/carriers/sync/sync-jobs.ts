import type { Transaction } from '@tradepost/postgres';
import { enqueueJobs, type Settings, type Tasks } from '@tradepost/runtime';
import { z } from 'zod';
import { openCarrierRouter } from '../carrier-router.ts';
import type { CarrierDriver } from '../drivers/driver.ts';
import { maxSyncedAtOnce } from '../limits.ts';
import { pollingEnabled } from '../settings.ts';
import { selectUnqueried } from './claim-store.ts';
import { pollShipments } from './poll-shipments.ts';
import { ownTransaction, type SyncDeps } from './sync-deps.ts';
import { syncShipments } from './sync-shipments.ts';

/** The job of each minute that queries the shipments that are due. */
export const pollTask = 'fulfilment.poll_carriers';
/** The job that queries new shipments once. It is retried until each was queried, with the attempts of every job. */
const syncTask = 'fulfilment.sync_shipments';
/** A poll claims for this time. The job of the next minute goes on. */
const pollMs = 50_000;
/** A job with more shipments would hold its worker for minutes when a service is slow. */
const shipmentsPerJob = 50;
/** Shoppers wait for other jobs, such as login codes. */
const syncPriority = 10;

const syncPayload = z.object({ shipment_ids: z.array(z.int().min(1)).max(maxSyncedAtOnce) });

/** The jobs of a worker. `tradepost shipments sync` does the same work in a process of its own. */
export function syncJobs(deps: SyncDeps): Tasks {
  const { settings, sql } = deps.runtime;
  return {
    async [pollTask](_payload, { signal, stopping = signal }) {
      if (!settings.get(pollingEnabled) || deps.router.refusal()) return;
      const ended = AbortSignal.any([signal, stopping, AbortSignal.timeout(pollMs)]);
      await pollShipments(deps, { signal: ended, abort: signal });
    },
    async [syncTask](payload, { signal }) {
      const { shipment_ids } = syncPayload.parse(payload);
      if (deps.router.refusal()) return;
      const unqueried = await selectUnqueried(sql, shipment_ids);
      await syncShipments(deps, unqueried, ownTransaction(sql), { signal });
      // Polling goes on with the others. Without it, this job is retried: their services did not answer lately, or another
      // process that claimed them was killed.
      if (settings.get(pollingEnabled)) return;
      const left = await selectUnqueried(sql, unqueried);
      if (left.length > 0) throw new Error(`${left.length} new shipments could not be queried yet`);
    },
  };
}

/** Enqueues a sync of new shipments when this transaction commits. Without a carrier service it does nothing. */
export type StartSync = (tx: Transaction, shipmentIds: readonly number[]) => Promise<void>;

export function openSyncStarter(settings: Pick<Settings, 'get'>, drivers: readonly CarrierDriver[]): StartSync {
  const router = openCarrierRouter(settings, drivers);
  return async (tx, shipmentIds) => {
    if (shipmentIds.length === 0 || router.refusal()) return;
    const starts = [...Array(Math.ceil(shipmentIds.length / shipmentsPerJob)).keys()];
    const jobs = starts.map((n) => ({
      ...{ task: syncTask, priority: syncPriority },
      payload: { shipment_ids: shipmentIds.slice(n * shipmentsPerJob, (n + 1) * shipmentsPerJob) },
    }));
    await enqueueJobs(tx, jobs);
  };
}
