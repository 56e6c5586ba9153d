import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import { maxCounted } from '../limits.ts';
import type { Endpoint, EndpointFields } from './endpoint.ts';

const columns = (sql: Queryable): Statement => sql`
  id, url, description, event_kinds, enabled, disabled_reason, disabled_at, previous_secret_until, failing_since,
  last_success_at, created_at, updated_at`;

/** Makes other transactions that add endpoints wait until this one ends. */
export const lockEndpoints = (tx: Transaction): Statement =>
  tx`lock table webhooks.endpoints in share row exclusive mode`;

/** The number of endpoints, and the id for the next one: its secret is sealed with it. */
export async function selectNextId(sql: Queryable): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('webhooks.endpoints', 'id')) as id`;
  return row!.id;
}

export async function countEndpoints(sql: Queryable): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from webhooks.endpoints where removed_at is null`;
  return row!.n;
}

export async function insertEndpoint(
  tx: Transaction,
  fields: EndpointFields & { id: number; secret_sealed: string },
  now: Date,
): Promise<Endpoint> {
  const [row] = await tx<Endpoint[]>`
    insert into webhooks.endpoints (
      id, url, description, event_kinds, enabled, disabled_at, secret_sealed, created_at, updated_at)
    values (
      ${fields.id}, ${fields.url}, ${fields.description}, ${[...fields.event_kinds]}::text[], ${fields.enabled},
      ${fields.enabled ? null : now}, ${fields.secret_sealed}, ${now}, ${now})
    returning ${columns(tx)}`;
  return row!;
}

/** The endpoints of these ids, or all, in the order of their ids. */
export async function selectEndpoints(sql: Queryable, ids: readonly number[] | null): Promise<Endpoint[]> {
  return sql<Endpoint[]>`
    select ${columns(sql)} from webhooks.endpoints
    where removed_at is null ${ids === null ? sql`` : sql`and id = any(${[...ids]}::bigint[])`}
    order by id`;
}

export type EndpointCounts = { readonly endpoint_id: number; readonly waiting: number; readonly failed: number };

/** Deliveries of each endpoint that wait or have failed, counted up to `maxCounted`. */
export async function selectCounts(sql: Queryable, ids: readonly number[]): Promise<Map<number, EndpointCounts>> {
  const counted = (status: 'waiting' | 'failed') => sql`
    (select count(*)::int from (
       select from webhooks.deliveries d where d.endpoint_id = e.id and d.status = ${sql.unsafe(`'${status}'`)}
       limit ${maxCounted}) as counted)`;
  const rows = await sql<EndpointCounts[]>`
    select id as endpoint_id, ${counted('waiting')} as waiting, ${counted('failed')} as failed
    from unnest(${[...ids]}::bigint[]) as e (id)`;
  return new Map(rows.map((row) => [row.endpoint_id, row]));
}

/** Changes the given fields. An endpoint that staff enable has a fresh start. */
export async function updateEndpoint(
  tx: Transaction,
  id: number,
  fields: Partial<EndpointFields>,
  now: Date,
): Promise<Endpoint | null> {
  const { url = null, description = null, event_kinds: kinds, enabled = null } = fields;
  const [row] = await tx<Endpoint[]>`
    update webhooks.endpoints set
      url = coalesce(${url}, url),
      description = coalesce(${description}, description),
      event_kinds = coalesce(${kinds === undefined ? null : [...kinds]}::text[], event_kinds),
      enabled = coalesce(${enabled}, enabled),
      disabled_at = case when coalesce(${enabled}, enabled) then null else coalesce(disabled_at, ${now}) end,
      disabled_reason = case when coalesce(${enabled}, enabled) then '' else disabled_reason end,
      failing_since = case when ${enabled === true} and not enabled then null else failing_since end,
      updated_at = ${now}
    where id = ${id} and removed_at is null
    returning ${columns(tx)}`;
  return row ?? null;
}

/** The endpoint is listed no longer and gets nothing more. Its deliveries are deleted by retention. */
export async function removeEndpoints(tx: Transaction, ids: readonly number[], now: Date): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update webhooks.endpoints
    set removed_at = ${now}, enabled = false, disabled_at = coalesce(disabled_at, ${now}), updated_at = ${now},
        secret_sealed = null, previous_secret_sealed = null, previous_secret_until = null
    where id = any(${[...ids]}::bigint[]) and removed_at is null
    returning id`;
  return rows.map(({ id }) => id);
}

/** Replaces the secret. The present one stays valid until `until`; null ends it now. */
export async function replaceSecret(
  tx: Transaction,
  id: number,
  secretSealed: string,
  { until, now }: { until: Date | null; now: Date },
): Promise<Endpoint | null> {
  const [row] = await tx<Endpoint[]>`
    update webhooks.endpoints set
      previous_secret_sealed = case when ${until}::timestamptz is null then null else secret_sealed end,
      previous_secret_until = ${until}::timestamptz,
      secret_sealed = ${secretSealed}, updated_at = ${now}
    where id = ${id} and removed_at is null
    returning ${columns(tx)}`;
  return row ?? null;
}

export type SealedSecrets = {
  readonly secret_sealed: string;
  readonly previous_secret_sealed: string | null;
  readonly previous_secret_until: Date | null;
};
/** What a request to an endpoint needs. */
export type Target = SealedSecrets & { readonly id: number; readonly url: string };

/** The endpoints that get deliveries, or one endpoint whether it is enabled or not. */
export async function selectTargets(sql: Queryable, id?: number): Promise<Target[]> {
  return sql<Target[]>`
    select id, url, secret_sealed, previous_secret_sealed, previous_secret_until from webhooks.endpoints
    where removed_at is null and ${id === undefined ? sql`enabled` : sql`id = ${id}`}
    order by id`;
}
