import { isoInZone } from '@tradepost/core';
import type { z } from 'zod';
import type { Attempt } from './deliveries/delivery.ts';
import { webhookId } from './deliveries/read-events.ts';
import type { AttemptRow, DeliveryRow } from './delivery-log/delivery-list-store.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import type { EndpointCounts } from './endpoints/endpoint-store.ts';
import type { attemptSchema, deliverySchema, endpointSchema } from './schemas.ts';

const momentIn = (zone: string) => (at: Date | null) => (at === null ? null : isoInZone(at, zone));

export function endpointView(
  endpoint: Endpoint,
  counts: EndpointCounts | undefined,
  zone: string,
): z.input<typeof endpointSchema> {
  const moment = momentIn(zone);
  return {
    ...endpoint,
    event_kinds: [...endpoint.event_kinds],
    disabled_at: moment(endpoint.disabled_at),
    previous_secret_until: moment(endpoint.previous_secret_until),
    failing_since: moment(endpoint.failing_since),
    last_success_at: moment(endpoint.last_success_at),
    waiting: counts?.waiting ?? 0,
    failed: counts?.failed ?? 0,
    created_at: isoInZone(endpoint.created_at, zone),
    updated_at: isoInZone(endpoint.updated_at, zone),
  };
}

export function deliveryView(row: DeliveryRow, zone: string): z.input<typeof deliverySchema> {
  const { id, endpoint_id, subject, status, attempts, last_error } = row;
  return {
    ...{ id, endpoint_id, subject, status, attempts, last_error },
    webhook_id: webhookId(row.event_id),
    type: row.kind,
    next_attempt_at: status === 'waiting' ? isoInZone(row.due_at, zone) : null,
    last_status: row.last_status ?? 0,
    occurred_at: isoInZone(row.occurred_at, zone),
    ended_at: momentIn(zone)(row.ended_at),
  };
}

export const attemptView = (
  { started_at, duration_ms, status, error, answer }: AttemptRow | Attempt,
  zone: string,
): z.input<typeof attemptSchema> => ({
  ...{ duration_ms, error, answer },
  started_at: isoInZone(started_at, zone),
  status: status ?? 0,
});
