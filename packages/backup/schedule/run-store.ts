import type { Queryable } from '@tradepost/postgres';

export type BackupRun = {
  readonly is_scheduled: boolean;
  readonly started_at: Date;
  readonly location: string;
  readonly bytes: number;
  readonly rows: number;
  readonly files: number;
  /** Empty when the backup is complete. */
  readonly error: string;
};

const maxErrorCharacters = 1_000;

export async function insertRuns(sql: Queryable, runs: readonly BackupRun[]): Promise<void> {
  const rows = runs.map((run) => ({ ...run, error: run.error.slice(0, maxErrorCharacters) }));
  await sql`
    insert into backup.runs (is_scheduled, started_at, ended_at, location, bytes, rows, files, error)
    select is_scheduled, started_at, greatest(started_at, clock_timestamp()), location, bytes, rows, files, error
    from jsonb_to_recordset(${sql.json(rows as never)}) as r (
      is_scheduled boolean, started_at timestamptz, location text, bytes bigint, rows bigint, files bigint, error text)`;
}

export type LatestRuns = {
  /** The last complete backup on schedule. */
  readonly done: (Pick<BackupRun, 'started_at' | 'location' | 'bytes'> & { readonly ended_at: Date }) | null;
  /** The last backup on schedule that failed. */
  readonly failed: { readonly started_at: Date; readonly error: string } | null;
};

export async function selectLatestRuns(sql: Queryable): Promise<LatestRuns> {
  const rows = await sql<(Pick<BackupRun, 'started_at' | 'location' | 'bytes' | 'error'> & { ended_at: Date })[]>`
    (select started_at, ended_at, location, bytes, error from backup.runs
     where is_scheduled and error = '' order by started_at desc limit 1)
    union all
    (select started_at, ended_at, location, bytes, error from backup.runs
     where is_scheduled and error <> '' order by started_at desc limit 1)`;
  return {
    done: rows.find(({ error }) => error === '') ?? null,
    failed: rows.find(({ error }) => error !== '') ?? null,
  };
}
