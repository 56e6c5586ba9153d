import type { ClientBase } from 'pg';

/** The first part of the two-part advisory locks of workers. The number is arbitrary and must never change. */
const lockClass = 720_588;
/** A worker counts as ended when its last heartbeat is older than this, and its session lock, if it had one, is free. */
const staleSeconds = { withLock: 15, withoutLock: 45 } as const;

type Client = Pick<ClientBase, 'query'>;

/**
 * Whether the connection has a server session of its own. Behind a transaction pooler the client gets a process id of
 * the pooler, and other clients would soon use the session with its locks.
 */
export async function ownsSession(client: Client, processId: number | null): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid === processId;
}

/**
 * Takes the lock of a worker. It is released when the session ends; a second lock of the same session has no further
 * effect.
 */
export async function holdWorkerLock(client: Client, id: string): Promise<void> {
  await client.query('select pg_advisory_lock($1, hashtext($2))', [lockClass, id]);
}

export async function saveWorkers(client: Client, ids: readonly string[], holdsLock: boolean): Promise<void> {
  await client.query(
    `insert into runtime.workers (id, holds_lock) select id, $2 from unnest($1::text[]) as w (id)
     on conflict (id) do update set seen_at = now(), holds_lock = excluded.holds_lock`,
    [ids, holdsLock],
  );
}

export async function deleteWorkers(client: Client, ids: readonly string[]): Promise<void> {
  await client.query('delete from runtime.workers where id = any($1::text[])', [ids]);
}

type Replaced = { replaced: string[] };
/**
 * Jobs whose key was enqueued again while a worker had locked them. The queue removes the key and all attempts from
 * such a job, so only the newer one is retried. When it is unlocked, it would look like a failed job, so it is deleted.
 */
const replacedIds = `coalesce(array_agg(id) filter (
  where key is null and attempts >= max_attempts and updated_at > locked_at), '{}')`;

async function deleteReplacedJobs(client: Client, ids: readonly string[] = []): Promise<void> {
  if (ids.length > 0) await client.query('select from graphile_worker.complete_jobs($1::bigint[])', [ids]);
}

export type UnlockedJobs = { workers: string[]; jobs: number };

/** Unlocks the jobs of ended workers, and deletes the rows of these workers. */
export async function unlockJobsOfEndedWorkers(client: Client): Promise<UnlockedJobs> {
  const { rows } = await client.query<UnlockedJobs & Replaced>(
    `with stale as materialized (
       select id, holds_lock from runtime.workers
       where seen_at < now() - make_interval(secs => case when holds_lock then $2::float8 else $3::float8 end)
       for update skip locked
     ), ended as (
       delete from runtime.workers w using stale s
       -- The lock is free: no session holds it.
       where w.id = s.id and (not s.holds_lock or pg_try_advisory_xact_lock($1, hashtext(s.id)))
       returning w.id
     ), ids as materialized (
       select array(select id from ended) as ids
     ), held as materialized (
       select count(*)::int as jobs, ${replacedIds} as replaced
       from graphile_worker.jobs where locked_by = any((select ids from ids)::text[])
     )
     select ids as workers, jobs, replaced, graphile_worker.force_unlock_workers(ids) from held, ids`,
    [lockClass, staleSeconds.withLock, staleSeconds.withoutLock],
  );
  await deleteReplacedJobs(client, rows[0]?.replaced);
  return { workers: rows[0]?.workers ?? [], jobs: rows[0]?.jobs ?? 0 };
}

/** Unlocks the jobs of these workers. Null: the jobs of all workers. */
export async function unlockJobsOf(client: Client, workers: readonly string[] | null): Promise<void> {
  const { rows } = await client.query<Replaced>(
    `with held as materialized (
       select array_agg(distinct locked_by) as workers, ${replacedIds} as replaced
       from graphile_worker.jobs where locked_by is not null and ($1::text[] is null or locked_by = any($1::text[]))
     )
     select replaced, graphile_worker.force_unlock_workers(coalesce($1::text[], workers)) from held
     where coalesce($1::text[], workers) is not null`,
    [workers],
  );
  await deleteReplacedJobs(client, rows[0]?.replaced);
}
