import { defineMetrics } from '@tradepost/runtime';

export const backupMetrics = defineMetrics(({ counter, gauge }) => ({
  runs: counter({
    name: 'backup_runs_total',
    help: 'Backups on schedule, by result: done or failed',
    labelNames: ['result'],
  }),
  lastSuccess: gauge({
    name: 'backup_last_success_timestamp_seconds',
    help: 'End of the last complete backup on schedule, in seconds since 1970; 0 without one. Set by the worker, from the database',
  }),
  lastFailure: gauge({
    name: 'backup_last_failure_timestamp_seconds',
    help: 'Start of the last backup on schedule that failed, in seconds since 1970; 0 without one, and while no backups are made on schedule. Set by the worker, from the database',
  }),
  lastBytes: gauge({ name: 'backup_last_bytes', help: 'Length of the last complete backup on schedule' }),
}));
