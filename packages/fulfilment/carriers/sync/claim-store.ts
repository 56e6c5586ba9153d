import type { Queryable, Statement } from '@tradepost/postgres';

export type ClaimedShipment = {
  id: number;
  order_id: number;
  company: string;
  tracking_no: string;
  channel_provider: string;
  sync_fail_count: number;
  /** When it was shipped, or recorded. */
  since: Date;
  claimed_until: Date;
};

const claimedColumns = (sql: Queryable) => sql`
  s.id, s.order_id, s.company, s.tracking_no, s.channel_provider, s.sync_fail_count,
  coalesce(s.shipped_at, s.created_at) as since, s.claimed_until`;

/** The shipments that polling queries. These are the conditions of the index shipments_due. */
const isOnItsWay = (sql: Queryable): Statement => sql`
  s.delivery_type = 'express' and s.tracking_no <> '' and s.logistics_status <> 'signed' and s.next_query_at is not null`;

/** A claim takes the newest of so many shipments that are due for the longest time. So no shipment waits for ever. */
const candidates = 1_000;

/**
 * Claims shipments that are due, newest first. Other processes leave them alone until `until`, and then they are due
 * again: the claims of a killed process end by themselves.
 */
export async function claimDueShipments(
  sql: Queryable,
  { now, until, batch, companies }: { now: Date; until: Date; batch: number; companies: readonly string[] },
): Promise<ClaimedShipment[]> {
  return sql<ClaimedShipment[]>`
    with overdue as materialized (
      select s.id from fulfilment.shipments s
      where ${isOnItsWay(sql)} and s.next_query_at <= ${now} and s.company = any(${[...companies]}::text[])
      order by s.next_query_at limit ${candidates}
    ), due as materialized (
      select s.id from overdue join fulfilment.shipments s on s.id = overdue.id
      -- checked again on the locked row: another process may have claimed it since
      where ${isOnItsWay(sql)} and s.next_query_at <= ${now}
      order by s.id desc limit ${batch} for no key update of s skip locked
    )
    update fulfilment.shipments s set claimed_until = ${until}, next_query_at = ${until}
    from due where s.id = due.id
    returning ${claimedColumns(sql)}`;
}

/** Claims these shipments, due or not. A shipment that another process queries is left out. */
export async function claimShipments(
  sql: Queryable,
  ids: readonly number[],
  { now, until }: { now: Date; until: Date },
): Promise<ClaimedShipment[]> {
  return sql<ClaimedShipment[]>`
    with free as materialized (
      select s.id from fulfilment.shipments s
      where s.id = any(${[...ids]}::bigint[]) and s.delivery_type = 'express' and s.tracking_no <> ''
        and (s.claimed_until is null or s.claimed_until <= ${now})
      order by s.id for no key update of s skip locked
    )
    update fulfilment.shipments s
    set claimed_until = ${until}, next_query_at = case when s.logistics_status = 'signed' then null else ${until}::timestamptz end
    from free where s.id = free.id
    returning ${claimedColumns(sql)}`;
}

/** Those of these shipments that no carrier service was asked about yet. */
export async function selectUnqueried(sql: Queryable, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await sql<{ id: number }[]>`
    select id from fulfilment.shipments
    where id = any(${[...ids]}::bigint[]) and delivery_type = 'express' and tracking_no <> '' and last_query_at is null`;
  return rows.map(({ id }) => id);
}

/** A longer backlog is not counted to its end. */
const mostCounted = 10_000;

type Due = { due: number; next_due: Date | null };

/** The number of shipments that are due, at most `mostCounted`, and when the next one is due. */
export async function selectDue(sql: Queryable, now: Date, companies: readonly string[]): Promise<Due> {
  const waiting = sql`${isOnItsWay(sql)} and s.company = any(${[...companies]}::text[])`;
  const [row] = await sql<Due[]>`
    select (select count(*) from (
              select from fulfilment.shipments s where ${waiting} and s.next_query_at <= ${now} limit ${mostCounted}
            ) as due)::int as due,
           (select s.next_query_at from fulfilment.shipments s where ${waiting} and s.next_query_at > ${now}
            order by s.next_query_at limit 1) as next_due`;
  return row!;
}
