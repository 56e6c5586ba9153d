import type { TestData } from '@tradepost/testing/test-data';

export const testData: TestData = {
  auditCases: [
    [
      'runtime.jobs_failed',
      'a job is out of attempts',
      `select graphile_worker.permanently_fail_jobs(array[(graphile_worker.add_job('x', '{}')).id])`,
    ],
    [
      'runtime.jobs_late',
      'a due job is not run',
      `select graphile_worker.add_job('x', '{}', run_at => now() - interval '1 hour')`,
    ],
    [
      'runtime.events_failed',
      'an event is out of attempts',
      `insert into runtime.outbox (name, subject, data, occurred_at, attempts, failed_at)
       values ('x', 'x:1', '{}', now(), 20, now())`,
    ],
    [
      'runtime.events_late',
      'an event is not dispatched',
      `insert into runtime.outbox (name, subject, data, occurred_at) values ('x', 'x:1', '{}', now() - interval '1 hour')`,
    ],
  ],
};
