import type { Paging } from '@tradepost/core';
import { plannedByValue, type Queryable, type Statement } from '@tradepost/postgres';
import { type DeliveryStatus, deliveryStatuses } from '../deliveries/delivery.ts';
import { maxCounted, maxShownAttempts } from '../limits.ts';

export type DeliveryRow = {
  readonly id: number;
  readonly endpoint_id: number;
  readonly event_id: number;
  readonly kind: string;
  readonly subject: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly due_at: Date;
  readonly last_status: number | null;
  readonly last_error: string;
  readonly occurred_at: Date;
  readonly ended_at: Date | null;
};
export type AttemptRow = {
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string;
  readonly answer: string;
};
export type DeliveryFilter = {
  readonly endpoint_id?: number | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly kind?: string | undefined;
};

const columns = (sql: Queryable) => sql`
  id, endpoint_id, event_id, kind, subject, status, attempts, due_at, last_status, last_error, occurred_at, ended_at`;

/**
 * The order of a list, as a column: the unique index has the deliveries of one endpoint by their events, the primary key has all of
 * them.
 */
const placeOf = (sql: Queryable, { endpoint_id: endpoint }: DeliveryFilter): Statement =>
  endpoint ? sql`event_id` : sql`id`;

/** The columns id and place of at most `most` matching deliveries: the newest ones in their order, or any. */
type Matching = (most: number, which: 'newest' | 'any') => Statement;

/** All deliveries, or those of one endpoint. */
const allDeliveries =
  (sql: Queryable, filter: DeliveryFilter): Matching =>
  (most, which) =>
    sql`
    select id, ${placeOf(sql, filter)} as place from webhooks.deliveries
    where ${filter.endpoint_id ? sql`endpoint_id = ${filter.endpoint_id}` : sql`true`}
    ${which === 'newest' ? sql`order by ${placeOf(sql, filter)} desc` : sql``} limit ${most}`;

/**
 * Deliveries of a kind, of a status, or of both. An index has the deliveries of one kind and status in their order. So the newest of
 * each kind and status that matches are read: a rare one is found without reading the others.
 */
function filteredDeliveries(sql: Queryable, filter: DeliveryFilter): Matching {
  const { endpoint_id: endpoint, kind, status } = filter;
  const ofEndpoint = endpoint ? sql`endpoint_id = ${endpoint}` : sql`true`;
  const nextKind = (after: Statement) => sql`
    select kind from webhooks.deliveries where ${ofEndpoint} ${after} order by kind limit 1`;
  const kinds = kind
    ? sql`select ${kind}::text as kind`
    : sql`(${nextKind(sql``)}) union all select (${nextKind(sql`and kind > k.kind`)}) from kinds k where k.kind is not null`;
  return (most, which) => sql`
    with recursive kinds (kind) as (${kinds})
    select d.id, d.place
    from kinds k cross join unnest(${status ? [status] : [...deliveryStatuses]}::text[]) as s (status)
    cross join lateral (
      select id, ${placeOf(sql, filter)} as place from webhooks.deliveries
      where ${ofEndpoint} and kind = k.kind and status = s.status
      order by ${placeOf(sql, filter)} desc limit ${most}) as d
    ${which === 'newest' ? sql`order by d.place desc` : sql``} limit ${most}`;
}

/** Deliveries, the newest event first. They are counted up to `maxCounted`, and the pages end there. */
export async function selectDeliveries(
  sql: Queryable,
  filter: DeliveryFilter,
  { size, offset }: Pick<Paging, 'size' | 'offset'>,
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const matching = (filter.kind || filter.status ? filteredDeliveries : allDeliveries)(sql, filter);
  const end = Math.min(offset + size, maxCounted);
  const rows = await plannedByValue(sql<(DeliveryRow & { total: number })[]>`
    with counted as (
      select count(*)::int as total from (${matching(maxCounted, 'any')}) as matching
    ), page as (
      select place, id from (${matching(end, 'newest')}) as matching order by place desc offset ${Math.min(offset, maxCounted)}
    )
    select ${columns(sql)}, counted.total
    from counted left join (select place, d.* from page join webhooks.deliveries d using (id)) as listed on true
    order by place desc`);
  const total = rows[0]?.total ?? 0;
  return { rows: rows.filter(({ id }) => id !== null), total };
}

/** One delivery with its body and its newest attempts, the oldest of them first. */
export async function selectDelivery(
  sql: Queryable,
  id: number,
): Promise<(DeliveryRow & { body: string; log: AttemptRow[] }) | null> {
  const [row] = await sql<(DeliveryRow & { body: string })[]>`
    select ${columns(sql)}, body from webhooks.deliveries where id = ${id}`;
  if (!row) return null;
  const log = await sql<AttemptRow[]>`
    select started_at, duration_ms, status, error, answer from webhooks.attempts
    where delivery_id = ${id} order by id desc limit ${maxShownAttempts}`;
  return { ...row, log: [...log].reverse() };
}

/** The time since which the oldest due delivery to an enabled endpoint waits. */
export async function selectOldestDue(sql: Queryable): Promise<Date | null> {
  const [row] = await sql<{ due_at: Date | null }[]>`
    select min(d.due_at) as due_at from webhooks.endpoints e
    cross join lateral (
      select due_at from webhooks.deliveries where endpoint_id = e.id and ready order by due_at limit 1) as d
    where e.enabled`;
  return row?.due_at ?? null;
}
