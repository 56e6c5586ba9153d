import type { Paging } from '@tradepost/core';
import type { Queryable } from '@tradepost/postgres';
import type { DeliveryStatus } from '../deliveries/delivery.ts';
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

/** Deliveries, the newest event first. They are counted up to `maxCounted`. */
export async function selectDeliveries(
  sql: Queryable,
  { endpoint_id: endpoint, status, kind }: DeliveryFilter,
  { size, offset }: Pick<Paging, 'size' | 'offset'>,
): Promise<{ rows: DeliveryRow[]; total: number }> {
  // The unique index has the order of the deliveries of one endpoint, the primary key that of all.
  const order = endpoint ? sql`event_id desc` : sql`id desc`;
  const matches = sql`
    ${endpoint ? sql`endpoint_id = ${endpoint}` : sql`true`} and ${status ? sql`status = ${status}` : sql`true`}
    and ${kind ? sql`kind = ${kind}` : sql`true`}`;
  const rows = await sql<(DeliveryRow & { total: number })[]>`
    with counted as (
      select count(*)::int as total
      from (select from webhooks.deliveries where ${matches} limit ${maxCounted}) as matching),
    page as (
      select ${columns(sql)} from webhooks.deliveries where ${matches} order by ${order} limit ${size} offset ${offset})
    select page.*, counted.total from counted left join page on true order by ${order}`;
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
