import type { Statement, Transaction } from '@tradepost/postgres';
import type { Settings } from '@tradepost/runtime';
import { pollingInterval } from '../settings.ts';
import type { SyncResult } from './query-shipment.ts';
import {
  type FailedRow,
  type FoundRow,
  insertSyncLogs,
  insertTracks,
  lockShipments,
  markFailed,
  markFound,
  releaseClaims,
  type TrackRow,
} from './result-store.ts';
import { nextQueryAt } from './schedule.ts';
import { mayComeFrom } from './statuses.ts';
import { trackHash } from './track-hash.ts';

type Found = Extract<SyncResult, { kind: 'found' }>;

const foundRow = ({ shipment, provider, status, nodes }: Found, next_query_at: Date | null, now: Date): FoundRow => ({
  ...{ shipment_id: shipment.id, provider, status, may_come_from: mayComeFrom[status] },
  ...{ event_at: nodes[0]?.event_time ?? now, next_query_at, claimed_until: shipment.claimed_until },
});

const trackRows = ({ shipment, provider, nodes }: Found): TrackRow[] =>
  nodes.map((node, index) => ({
    ...{ shipment_id: shipment.id, provider, position: index + 1, track_hash: trackHash(shipment.id, node) },
    ...node,
  }));

/**
 * Writes the results of queries in at most six statements. A result of a driver to which another process did not fix the
 * shipment meanwhile is dropped.
 */
export async function storeResults(
  tx: Transaction,
  settings: Pick<Settings, 'get'>,
  results: readonly SyncResult[],
  now: Date,
): Promise<void> {
  const intervalSeconds = settings.get(pollingInterval);
  const channels = await lockShipments(
    tx,
    results.map(({ shipment }) => shipment.id),
  );
  const found: Found[] = [];
  const failed: FailedRow[] = [];
  const released: FailedRow[] = [];
  const next = ({ shipment: { since } }: SyncResult, failures: number) =>
    nextQueryAt(now, { since, failures, intervalSeconds });
  for (const result of results) {
    const { id: shipment_id, claimed_until, sync_fail_count } = result.shipment;
    const channel = channels.get(shipment_id);
    if (result.kind === 'failed')
      failed.push({ shipment_id, claimed_until, next_query_at: next(result, sync_fail_count + 1) });
    else if (result.kind === 'found' && (channel === '' || channel === result.provider)) found.push(result);
    else {
      const pauseMs = result.kind === 'postponed' ? result.pauseMs : 0;
      const next_query_at = pauseMs === null ? next(result, 0) : new Date(now.getTime() + pauseMs);
      released.push({ shipment_id, claimed_until, next_query_at });
    }
  }
  const tracks = found.flatMap(trackRows);
  const logs = results.flatMap(({ shipment, logs }) => logs.map((log) => ({ shipment_id: shipment.id, ...log })));
  const foundRows = found.map((result) => foundRow(result, next(result, 0), now));
  const statements: Statement[] = [
    ...(foundRows.length > 0 ? [markFound(tx, foundRows, now)] : []),
    ...(failed.length > 0 ? [markFailed(tx, failed, now)] : []),
    ...(released.length > 0 ? [releaseClaims(tx, released)] : []),
    ...(tracks.length > 0 ? [insertTracks(tx, tracks, now)] : []),
    ...(logs.length > 0 ? [insertSyncLogs(tx, logs, now)] : []),
  ];
  await Promise.all(statements);
}
