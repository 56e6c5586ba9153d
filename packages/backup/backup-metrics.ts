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
  lastBytes: gauge({ name: 'backup_last_bytes', help: 'Length of the last complete backup on schedule' }),
}));
