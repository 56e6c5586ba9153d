import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';

/** `failed`: all attempts are used. The job stays until an operator retries or discards it. */
export type JobState = 'waiting' | 'running' | 'failed';

export type JobRow = {
  id: number;
  task: string;
  state: JobState;
  attempts: number;
  max_attempts: number;
  run_at: Date;
  last_error: string | null;
  key: string | null;
  created_at: Date;
  updated_at: Date;
  locked_at: Date | null;
  locked_by: string | null;
};

export type JobFilter = { states?: readonly JobState[] | undefined; task?: string | undefined };

/** graphile-worker and its SQL functions treat a lock that is older than four hours as the lock of a killed worker. */
const stateOf = (sql: Queryable) => sql`
  case when locked_at > now() - interval '4 hours' then 'running' when attempts >= max_attempts then 'failed' else 'waiting' end`;

const jobsWhere = (sql: Queryable, { states, task }: JobFilter) => sql`
  (select id, task_identifier as task, ${stateOf(sql)} as state, attempts, max_attempts, run_at, last_error, key, created_at,
          updated_at, locked_at, locked_by
   from graphile_worker.jobs where true ${task === undefined ? sql`` : sql`and task_identifier = ${task}`}) as job
  where true ${states?.length ? sql`and state = any(${[...states]}::text[])` : sql``}`;

/**
 * The condition that a job with the SQL expression `key` as its key waits or runs. A job that was locked before
 * `lockedSince` does not count: its worker has ended.
 */
export const hasOpenJob = (sql: Queryable, key: Statement, lockedSince: Date): Statement => sql`
  exists (select from graphile_worker.jobs j where j.key = ${key} and j.attempts < j.max_attempts
          and (j.locked_at is null or j.locked_at >= ${lockedSince}))`;

/** Failed jobs first, then running jobs, then waiting jobs by their time. `total` counts all of them. */
export async function selectJobs(
  sql: Sql,
  filter: JobFilter,
  limit: number,
): Promise<{ jobs: JobRow[]; total: number }> {
  const [jobs, [count]] = await Promise.all([
    sql<JobRow[]>`select * from ${jobsWhere(sql, filter)} order by state = 'waiting', state, run_at, id limit ${limit}`,
    sql<{ total: number }[]>`select count(*) as total from ${jobsWhere(sql, filter)}`,
  ]);
  return { jobs: [...jobs], total: count?.total ?? 0 };
}

export type JobCounts = { due: number; oldest_due: Date | null; failed: number; running: number; workers: number };

/** The numbers that show whether the workers are fast enough. `workers` is the number of their database connections. */
export async function selectJobCounts(sql: Queryable): Promise<JobCounts> {
  const [row] = await sql<JobCounts[]>`
    select count(*) filter (where state = 'waiting' and run_at <= now()) as due,
           min(run_at) filter (where state = 'waiting' and run_at <= now()) as oldest_due,
           count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'running') as running,
           (select count(*) from pg_stat_activity
            where application_name = 'tradepost worker' and datname = current_database()) as workers
    from ${jobsWhere(sql, {})}`;
  return row!;
}

/** One job with its payload, which the public view of graphile-worker does not have. */
export async function selectJob(sql: Queryable, id: number): Promise<(JobRow & { payload: unknown }) | undefined> {
  const [row] = await sql<(JobRow & { payload: unknown })[]>`
    select *, (select payload from graphile_worker._private_jobs as p where p.id = job.id) as payload
    from ${jobsWhere(sql, {})} and id = ${id}`;
  return row;
}

export type JobChoice = { ids: readonly number[] } | { filter: JobFilter };
type NotChanged = { unknown: number[]; running: number[] };

/**
 * Locks the chosen jobs in the order of their ids, so that no worker claims one. Of given ids, `unknown` and `running`
 * cannot be locked.
 */
async function lockJobs(tx: Transaction, choice: JobChoice): Promise<{ ids: number[] } & NotChanged> {
  const chosen =
    'ids' in choice
      ? await tx<{ id: number; state: JobState }[]>`
          select id, state from ${jobsWhere(tx, {})} and id = any(${[...choice.ids]}::bigint[])`
      : await tx<{ id: number; state: JobState }[]>`select id, state from ${jobsWhere(tx, choice.filter)}`;
  const candidates = chosen.filter((job) => job.state !== 'running').map((job) => job.id);
  const locked = await tx<{ id: number }[]>`
    select id from graphile_worker._private_jobs
    where id = any(${candidates}::bigint[]) and (locked_at is null or locked_at <= now() - interval '4 hours')
    order by id for update skip locked`;
  const ids = locked.map((row) => row.id);
  const free = new Set(ids);
  const seen = new Set(chosen.map((job) => job.id));
  return {
    ids,
    unknown: 'ids' in choice ? choice.ids.filter((id) => !seen.has(id)) : [],
    running: chosen.map((job) => job.id).filter((id) => !free.has(id)),
  };
}

type Changed = { changed: number[] } & NotChanged;

/**
 * Of given ids, either all jobs are changed or no job, so that an operator can correct a wrong id. Of a filter, all
 * jobs that do not run are changed.
 */
function changeJobs(
  sql: Sql,
  choice: JobChoice,
  change: (tx: Transaction, ids: number[]) => Promise<unknown>,
): Promise<Changed> {
  return sql.begin(async (tx): Promise<Changed> => {
    const { ids, unknown, running } = await lockJobs(tx, choice);
    if ('ids' in choice && (unknown.length > 0 || running.length > 0)) return { changed: [], unknown, running };
    await change(tx, ids);
    return { changed: ids, unknown, running };
  }) as Promise<Changed>;
}

/** Makes jobs due now, with all their attempts again. The last error is kept. */
export function retryJobs(sql: Sql, choice: JobChoice): Promise<Changed> {
  return changeJobs(
    sql,
    choice,
    (tx, ids) => tx`select from graphile_worker.reschedule_jobs(${ids}::bigint[], run_at => now(), attempts => 0)`,
  );
}

/** Removes the failed jobs of a task that a cron repeats. */
export async function forgetFailedJobs(sql: Queryable, task: string): Promise<void> {
  await sql`
    select graphile_worker.complete_jobs(array_agg(id))
    from graphile_worker.jobs
    where task_identifier = ${task} and attempts >= max_attempts and locked_at is null
    having count(*) > 0`;
}

/** Removes jobs like completed ones. Jobs that are marked as failed would stay on the list of the operator. */
export function discardJobs(sql: Sql, ids: readonly number[]): Promise<Changed> {
  return changeJobs(sql, { ids }, (tx, chosen) => tx`select from graphile_worker.complete_jobs(${chosen}::bigint[])`);
}
