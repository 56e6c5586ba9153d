import type { Sql } from '@tradepost/postgres';

export type UsageState = 'done' | 'failed' | 'cancelled';

/** The facts of a request when it is admitted. */
export type UsageRow = {
  readonly id: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly endpoint: string;
  readonly model: string;
  readonly stream: boolean;
  readonly estimated_input_tokens: number;
  readonly max_output_tokens: number;
  /** Unix ms. */
  readonly started_at: number;
};

/** The facts of a request when it has ended. */
export type UsageEnd = {
  readonly state: UsageState;
  readonly upstream: string | null;
  readonly upstream_model: string | null;
  readonly http_status: number | null;
  readonly attempts: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly usage_source: 'upstream' | 'estimated' | null;
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  /** Unix ms. */
  readonly ended_at: number;
};

export type UsageInsert = { readonly row: UsageRow; readonly end: UsageEnd | null };
export type UsageUpdate = { readonly id: string; readonly end: UsageEnd };

/** Inserts rows of running requests, and complete rows of requests that have ended meanwhile. */
export async function insertUsage(sql: Sql, inserts: readonly UsageInsert[]): Promise<void> {
  const of = <T>(read: (row: UsageRow) => T) => inserts.map(({ row }) => read(row));
  const ofEnd = <T>(read: (end: UsageEnd) => T) => inserts.map(({ end }) => (end ? read(end) : null));
  await sql`
    insert into gateway.usage (
      id, user_id, token_id, endpoint, model, stream, estimated_input_tokens, max_output_tokens, started_at,
      state, upstream, upstream_model, http_status, attempts, input_tokens, output_tokens, usage_source,
      first_byte_ms, duration_ms, ended_at)
    select
      id, user_id, token_id, endpoint, model, stream = 1, estimated, max_output, to_timestamp(started / 1000.0),
      coalesce(state, 'open'), upstream, upstream_model, http_status, coalesce(attempts, 0), input, output, source,
      first_byte, duration, to_timestamp(ended / 1000.0)
    from unnest(
      ${of((row) => row.id)}::uuid[], ${of((row) => row.user_id)}::bigint[], ${of((row) => row.token_id)}::bigint[],
      ${of((row) => row.endpoint)}::text[], ${of((row) => row.model)}::text[], ${of((row) => (row.stream ? 1 : 0))}::int[],
      ${of((row) => row.estimated_input_tokens)}::bigint[], ${of((row) => row.max_output_tokens)}::bigint[],
      ${of((row) => row.started_at)}::bigint[],
      ${ofEnd((end) => end.state)}::text[], ${ofEnd((end) => end.upstream)}::text[],
      ${ofEnd((end) => end.upstream_model)}::text[], ${ofEnd((end) => end.http_status)}::int[],
      ${ofEnd((end) => end.attempts)}::int[], ${ofEnd((end) => end.input_tokens)}::bigint[],
      ${ofEnd((end) => end.output_tokens)}::bigint[], ${ofEnd((end) => end.usage_source)}::text[],
      ${ofEnd((end) => end.first_byte_ms)}::int[], ${ofEnd((end) => end.duration_ms)}::int[],
      ${ofEnd((end) => end.ended_at)}::bigint[]
    ) as u (
      id, user_id, token_id, endpoint, model, stream, estimated, max_output, started,
      state, upstream, upstream_model, http_status, attempts, input, output, source, first_byte, duration, ended)`;
}

/** Writes the ends of open rows. A row that has ended does not change. */
export async function endUsage(sql: Sql, updates: readonly UsageUpdate[]): Promise<void> {
  const of = <T>(read: (end: UsageEnd) => T) => updates.map(({ end }) => read(end));
  await sql`
    update gateway.usage as usage set
      state = u.state, upstream = u.upstream, upstream_model = u.upstream_model, http_status = u.http_status,
      attempts = u.attempts, input_tokens = u.input, output_tokens = u.output, usage_source = u.source,
      first_byte_ms = u.first_byte, duration_ms = u.duration, ended_at = to_timestamp(u.ended / 1000.0)
    from unnest(
      ${updates.map(({ id }) => id)}::uuid[], ${of((end) => end.state)}::text[], ${of((end) => end.upstream)}::text[],
      ${of((end) => end.upstream_model)}::text[], ${of((end) => end.http_status)}::int[],
      ${of((end) => end.attempts)}::int[], ${of((end) => end.input_tokens)}::bigint[],
      ${of((end) => end.output_tokens)}::bigint[], ${of((end) => end.usage_source)}::text[],
      ${of((end) => end.first_byte_ms)}::int[], ${of((end) => end.duration_ms)}::int[],
      ${of((end) => end.ended_at)}::bigint[]
    ) as u (id, state, upstream, upstream_model, http_status, attempts, input, output, source, first_byte, duration, ended)
    where usage.id = u.id and usage.state = 'open'`;
}

/** Closes open rows that are older than `hours`, the oldest first. Returns their number. */
export async function closeStaleUsage(sql: Sql, hours: number, limit: number): Promise<number> {
  const { count } = await sql`
    update gateway.usage set state = 'failed', ended_at = now()
    where id in (
      select id from gateway.usage where state = 'open' and started_at < now() - make_interval(hours => ${hours})
      order by started_at limit ${limit} for update skip locked)`;
  return count;
}
