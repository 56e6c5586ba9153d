import type { Audit } from '@tradepost/runtime';

export const carrierAudits: readonly Audit[] = [
  {
    name: 'fulfilment.track_orphans',
    about: 'every track node belongs to a shipment',
    query: (sql) => sql`
      select t.id as track_id, t.shipment_id from fulfilment.shipment_tracks t
      left join fulfilment.shipments s on s.id = t.shipment_id where s.id is null`,
  },
  {
    name: 'fulfilment.signed_at',
    about: 'a shipment has a time of signature exactly when it is signed',
    query: (sql) => sql`
      select id as shipment_id, logistics_status, signed_at from fulfilment.shipments
      where (logistics_status = 'signed') <> (signed_at is not null)`,
  },
  {
    name: 'fulfilment.channels',
    about: 'a shipment has its channel since its first successful query, and not before',
    query: (sql) => sql`
      select id as shipment_id, channel_provider, last_sync_ok_at from fulfilment.shipments
      where (channel_provider <> '') <> (last_sync_ok_at is not null)`,
  },
];
