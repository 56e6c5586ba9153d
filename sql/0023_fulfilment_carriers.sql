alter table fulfilment.shipments
  -- When the carrier is queried next by polling; null: not any more. A new shipment is due at once.
  add column next_query_at timestamptz default now(),
  -- A process queries the carrier until then. A killed process leaves its claim, which ends by itself.
  add column claimed_until timestamptz;

-- The shipments that polling queries, by the time when they are due.
create index shipments_due on fulfilment.shipments (next_query_at)
  where delivery_type = 'express' and tracking_no <> '' and logistics_status <> 'signed' and next_query_at is not null;

-- The events on the way of a shipment, as its carrier reported them.
create table fulfilment.shipment_tracks (
  id bigint generated always as identity primary key,
  shipment_id bigint not null,
  provider text not null,
  track_hash text not null,
  status_code text not null,
  status_text text not null,
  event_time timestamptz not null,
  location text not null,
  raw_payload jsonb not null,
  created_at timestamptz not null default now(),
  -- Each query returns all events again.
  unique (shipment_id, track_hash)
);
create index shipment_tracks_newest on fulfilment.shipment_tracks (shipment_id, event_time desc, id desc);

-- One row per query of a carrier.
create table fulfilment.shipment_sync_logs (
  id bigint generated always as identity primary key,
  shipment_id bigint not null,
  provider text not null,
  success boolean not null,
  error_code text not null default '',
  error text not null default '',
  cost_ms int not null,
  created_at timestamptz not null default now()
);
create index shipment_sync_logs_of_shipment on fulfilment.shipment_sync_logs (shipment_id, id desc);
create index shipment_sync_logs_age on fulfilment.shipment_sync_logs (created_at);
