-- The staff's lists of deliveries: those of one kind and status in their order, of all endpoints and of one. A list of several
-- kinds or states reads some rows of each, so a rare kind or state is found without reading the others.
create index deliveries_of_kind on webhooks.deliveries (kind, status, id);
create index deliveries_of_endpoint on webhooks.deliveries (endpoint_id, kind, status, event_id);
