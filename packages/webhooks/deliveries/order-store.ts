import type { Statement, Transaction } from '@tradepost/postgres';

/*
 * The order of the deliveries of one subject at one endpoint: at most one row is `ready`, the next one. The
 * transaction that ends it readies the row behind it. A transaction that adds waiting rows must see that end, or be seen by it. So
 * transactions that end deliveries share a lock, and a transaction that adds waiting rows has it alone.
 */

const lockKey = (tx: Transaction): Statement => tx`hashtextextended('webhooks.order', 0)`;

/** Before deliveries end. Several transactions hold it at once. */
export const lockToEnd = (tx: Transaction): Statement => tx`select pg_advisory_xact_lock_shared(${lockKey(tx)})`;

/** Before rows begin to wait. One transaction holds it, and no delivery ends meanwhile. */
export const lockToAdd = (tx: Transaction): Statement => tx`select pg_advisory_xact_lock(${lockKey(tx)})`;

/** Readies the first waiting delivery of these subjects, one for each pair of endpoint and subject. The caller holds a lock. */
export const readyNext = (
  tx: Transaction,
  of: { endpoints: readonly number[]; subjects: readonly string[] },
): Statement => tx`
  update webhooks.deliveries set ready = true
  where id in (
    select (select d.id from webhooks.deliveries d
            where d.endpoint_id = e.endpoint_id and d.subject = e.subject and d.status = 'waiting'
            order by d.event_id limit 1)
    from unnest(${[...of.endpoints]}::bigint[], ${[...of.subjects]}::text[]) as e (endpoint_id, subject))`;

/** Readies the first waiting delivery of each subject of an endpoint that has no ready one. The caller holds `lockToAdd`. */
export const readyWaiting = (tx: Transaction, endpointId: number): Statement => tx`
    update webhooks.deliveries set ready = true
    where id in (
      select distinct on (d.subject) d.id from webhooks.deliveries d
      where d.endpoint_id = ${endpointId} and d.status = 'waiting' and not exists (
        select from webhooks.deliveries r where r.endpoint_id = d.endpoint_id and r.subject = d.subject and r.ready)
      order by d.subject, d.event_id)`;

/** The same for these subjects only. */
export const readySubjects = (tx: Transaction, endpointId: number, subjects: readonly string[]): Statement => tx`
  update webhooks.deliveries set ready = true
  where id in (
    select (select d.id from webhooks.deliveries d
            where d.endpoint_id = ${endpointId} and d.subject = s.subject and d.status = 'waiting'
            order by d.event_id limit 1)
    from unnest(${[...subjects]}::text[]) as s (subject)
    where not exists (
      select from webhooks.deliveries r where r.endpoint_id = ${endpointId} and r.subject = s.subject and r.ready))`;
