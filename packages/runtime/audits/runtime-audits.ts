import type { Audit } from './audit.ts';

/** Later than any worker that runs would be: it polls every second, and retries wait for their own time. */
const lateAfter = '10 minutes';

export const runtimeAudits: readonly Audit[] = [
  {
    name: 'runtime.jobs_failed',
    pendingWork: true,
    about: 'no job has used up its attempts: see `tradepost jobs list --failed`, then retry or discard it',
    query: (sql) => sql`
      select id as job, task_identifier as task, attempts, left(last_error, 200) as last_error, updated_at
      from graphile_worker.jobs where attempts >= max_attempts and locked_at is null`,
  },
  {
    name: 'runtime.jobs_late',
    pendingWork: true,
    about: `no job has been due for ${lateAfter} without being run: else no worker is there, or it can not keep up`,
    query: (sql) => sql`
      select id as job, task_identifier as task, attempts, run_at
      from graphile_worker.jobs
      where attempts < max_attempts and locked_at is null and run_at < now() - ${lateAfter}::interval`,
  },
];
