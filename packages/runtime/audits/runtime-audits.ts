import type { Audit } from './audit.ts';

/** A job so late shows that no worker runs it: a worker polls every second, and a retry has a later `run_at`. */
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
    about: `no job has been due for ${lateAfter} without a run: otherwise no worker runs, or the workers are too slow`,
    query: (sql, now) => sql`
      select id as job, task_identifier as task, attempts, run_at
      from graphile_worker.jobs
      where attempts < max_attempts and locked_at is null and run_at < ${now} - ${lateAfter}::interval`,
  },
  {
    name: 'runtime.events_failed',
    pendingWork: true,
    about: 'no event has used up its attempts: see `tradepost events list --failed`, then retry it',
    query: (sql) => sql`
      select id as event, name, subject, attempts, last_error, failed_at from runtime.outbox where failed_at is not null`,
  },
  {
    name: 'runtime.events_late',
    pendingWork: true,
    about: `no event has waited for ${lateAfter} for its dispatch: otherwise no worker runs, or its reader fails`,
    query: (sql, now) => sql`
      select id as event, name, subject, attempts, last_error, occurred_at from runtime.outbox
      where dispatched_at is null and failed_at is null and occurred_at < ${now} - ${lateAfter}::interval`,
  },
];
