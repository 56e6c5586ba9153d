import { type RetentionRule, retentionDays } from '@tradepost/runtime';

export const runDays = retentionDays('backup_runs', 400, 'records of backups');

/** The backups themselves are removed by `backup.keep`. */
export const backupRetention: readonly RetentionRule[] = [
  {
    name: 'backup_runs',
    about: 'records of backups that were made or that failed',
    table: 'backup.runs',
    age: 't.started_at',
    days: runDays,
  },
];
