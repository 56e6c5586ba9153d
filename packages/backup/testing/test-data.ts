import type { TestData } from '@tradepost/testing/test-data';

export const testData: TestData = {
  rows: `
    insert into backup.runs (is_scheduled, started_at, ended_at, location, bytes, rows, files, error)
    values (true, now() - interval '2 days', now() - interval '2 days', '/backups/tradepost-0a1b2c3d-20261120T033000Z.tar', 2048, 10, 1, ''),
           (true, now() - interval '1 day', now() - interval '1 day', '/backups', 0, 0, 0, 'no space left on device');`,
  auditCases: [['backup.runs', 'complete without a length', `update backup.runs set bytes = 0 where error = ''`]],
};
