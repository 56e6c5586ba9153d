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
  ],
};
