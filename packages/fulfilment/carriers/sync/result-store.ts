import type { Statement, Transaction } from '@tradepost/postgres';
import { maxNodesPerShipment } from '../limits.ts';

export type FoundRow = {
  shipment_id: number;
  provider: string;
  status: string;
  /** The states from which the shipment moves to `status`. */
  may_come_from: readonly string[];
  /** The time of its newest event. */
  event_at: Date;
  next_query_at: Date | null;
  claimed_until: Date;
};
export type FailedRow = { shipment_id: number; next_query_at: Date | null; claimed_until: Date };
export type TrackRow = {
  shipment_id: number;
  provider: string;
  /** 1 for the newest event of the answer. */
  position: number;
  track_hash: string;
  status_code: string;
  status_text: string;
  event_time: Date;
  location: string;
  raw_payload: Readonly<Record<string, unknown>>;
};
export type LogRow = {
  shipment_id: number;
  provider: string;
  success: boolean;
  error_code: string;
  error: string;
  cost_ms: number;
};

/** Locks shipments in the order of their ids. Returns the channel to which each is fixed. */
export async function lockShipments(tx: Transaction, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await tx<{ id: number; channel_provider: string }[]>`
    select id, channel_provider from fulfilment.shipments where id = any(${[...ids]}::bigint[])
    order by id for no key update`;
  return new Map(rows.map((row) => [row.id, row.channel_provider]));
}

/**
 * Writes the answers of carriers. The first one fixes the channel of a shipment. The state moves only forwards, and the
 * time of the signature is written with that move and never again.
 */
export const markFound = (tx: Transaction, rows: readonly FoundRow[], now: Date): Statement => tx`
  update fulfilment.shipments s
  set channel_provider = r.provider,
      logistics_status = case when s.logistics_status = any(r.may_come_from) then r.status else s.logistics_status end,
      signed_at = case when r.status = 'signed' and s.logistics_status = any(r.may_come_from) then r.event_at else s.signed_at end,
      last_query_at = ${now}, last_sync_ok_at = ${now}, sync_fail_count = 0, updated_at = ${now},
      next_query_at = case when 'signed' in (r.status, s.logistics_status) then null else r.next_query_at end,
      claimed_until = nullif(s.claimed_until, r.claimed_until)
  from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (shipment_id bigint, provider text, status text,
    may_come_from text[], event_at timestamptz, next_query_at timestamptz, claimed_until timestamptz)
  where s.id = r.shipment_id and s.channel_provider in ('', r.provider)`;

/** Records failed queries of shipments. */
export const markFailed = (tx: Transaction, rows: readonly FailedRow[], now: Date): Statement => tx`
  update fulfilment.shipments s
  set last_query_at = ${now}, sync_fail_count = s.sync_fail_count + 1, updated_at = ${now},
      next_query_at = case when s.logistics_status = 'signed' then null else r.next_query_at end,
      claimed_until = nullif(s.claimed_until, r.claimed_until)
  from json_to_recordset(${JSON.stringify(rows)}::text::json)
    as r (shipment_id bigint, next_query_at timestamptz, claimed_until timestamptz)
  where s.id = r.shipment_id`;

/** Ends the claims of shipments that were not queried. A claim that has expired meanwhile is not touched. */
export const releaseClaims = (tx: Transaction, rows: readonly FailedRow[]): Statement => tx`
  update fulfilment.shipments s
  set next_query_at = case when s.logistics_status = 'signed' then null else r.next_query_at end, claimed_until = null
  from json_to_recordset(${JSON.stringify(rows)}::text::json)
    as r (shipment_id bigint, next_query_at timestamptz, claimed_until timestamptz)
  where s.id = r.shipment_id and s.claimed_until = r.claimed_until`;

/** Inserts events that their shipments do not have yet. */
export const insertTracks = (tx: Transaction, rows: readonly TrackRow[], now: Date): Statement => tx`
  insert into fulfilment.shipment_tracks (shipment_id, provider, track_hash, status_code, status_text, event_time, location,
    raw_payload, created_at)
  select r.shipment_id, provider, track_hash, status_code, status_text, event_time, location, raw_payload, ${now}
  from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (shipment_id bigint, provider text, "position" int,
    track_hash text, status_code text, status_text text, event_time timestamptz, location text, raw_payload jsonb)
  left join (
    select t.shipment_id, count(*) as stored from fulfilment.shipment_tracks t
    where t.shipment_id = any(${[...new Set(rows.map((row) => row.shipment_id))]}::bigint[]) group by t.shipment_id
  ) as known on known.shipment_id = r.shipment_id
  where coalesce(known.stored, 0) + r."position" <= ${maxNodesPerShipment}
  on conflict (shipment_id, track_hash) do nothing`;

export const insertSyncLogs = (tx: Transaction, rows: readonly LogRow[], now: Date): Statement => tx`
  insert into fulfilment.shipment_sync_logs (shipment_id, provider, success, error_code, error, cost_ms, created_at)
  select shipment_id, provider, success, error_code, error, cost_ms, ${now}
  from json_to_recordset(${JSON.stringify(rows)}::text::json)
    as r (shipment_id bigint, provider text, success boolean, error_code text, error text, cost_ms int)`;
