import type { Queryable } from '@tradepost/postgres';
import { maxTracks } from './limits.ts';

export type Track = {
  id: number;
  shipment_id: number;
  provider: string;
  track_hash: string;
  status_code: string;
  status_text: string;
  event_time: Date;
  location: string;
  raw_payload: Record<string, unknown>;
};

/** The newest events of a shipment of this order. Null when the order has no such shipment. */
export async function selectTracks(
  sql: Queryable,
  { order_id, shipment_id }: { order_id: number; shipment_id: number },
): Promise<Track[] | null> {
  const rows = await sql<(Track | { id: null })[]>`
    select t.* from fulfilment.shipments s
    left join lateral (
      select id, shipment_id, provider, track_hash, status_code, status_text, event_time, location, raw_payload
      from fulfilment.shipment_tracks where shipment_id = s.id order by event_time desc, id desc limit ${maxTracks}
    ) as t on true
    where s.id = ${shipment_id} and s.order_id = ${order_id}
    order by t.event_time desc, t.id desc`;
  return rows.length === 0 ? null : rows.filter((row) => row.id !== null);
}

const maxShipmentsShown = 100;

export type SyncTarget = {
  company: string;
  tracking_no: string;
  channel_provider: string;
  delivery_type: 'express' | 'local';
};

/** What a sync needs to know of a shipment of this order. */
export async function selectSyncTarget(
  sql: Queryable,
  { order_id, shipment_id }: { order_id: number; shipment_id: number },
): Promise<SyncTarget | undefined> {
  const [row] = await sql<SyncTarget[]>`
    select company, tracking_no, channel_provider, delivery_type from fulfilment.shipments
    where id = ${shipment_id} and order_id = ${order_id}`;
  return row;
}

export type QueriedShipment = {
  id: number;
  order_id: number;
  company: string;
  tracking_no: string;
  logistics_status: string;
  last_query_at: Date | null;
  /** The failed queries since the last successful one. */
  sync_fail_count: number;
  /** Why the last query failed. Empty after a success, and when its log row was deleted. */
  last_error: string;
};

/** The shipments of an order, newest first, or the shipment with this id; each with the result of its last query. */
export async function selectQueriedShipments(
  sql: Queryable,
  of: { order_id: number } | { shipment_id: number },
): Promise<QueriedShipment[]> {
  return sql`
    select s.id, s.order_id, s.company, s.tracking_no, s.logistics_status, s.last_query_at, s.sync_fail_count,
      coalesce(l.provider || ': ' || l.error, '') as last_error
    from fulfilment.shipments s
    left join lateral (
      select provider, error, success from fulfilment.shipment_sync_logs where shipment_id = s.id order by id desc limit 1
    ) as l on not l.success
    where ${'shipment_id' in of ? sql`s.id = ${of.shipment_id}` : sql`s.order_id = ${of.order_id}`}
    order by s.id desc limit ${maxShipmentsShown}`;
}
