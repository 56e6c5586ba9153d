import type { Module } from '@tradepost/module';
import { openStoredFiles, storageDrivers } from '@tradepost/storage';
import { backupAudits } from './backup-audits.ts';
import { backupMetrics } from './backup-metrics.ts';
import { backupCheck } from './doctor-checks.ts';
import { backupRetention, runDays } from './retention.ts';
import { runScheduled } from './schedule/run-scheduled.ts';
import { backupSettings } from './schedule/settings.ts';
import { backupInChangeLog, backupTables } from './tables.ts';
import { removeAbandonedDatabases, removeAbandonedFolders } from './verify/abandoned.ts';

const scheduledTask = 'backup.scheduled';

export const backupModule: Module = {
  name: 'backup',
  needs: ['storage'],
  tables: backupTables,
  changeLog: backupInChangeLog,
  settings: [...backupSettings, runDays],
  audits: backupAudits,
  retention: backupRetention,
  metrics: backupMetrics,
  doctorChecks: [backupCheck],
  open: ({ runtime, entries }) => ({
    tasks: {
      async [scheduledTask](_payload, { log, signal, stopping = signal }) {
        const files = openStoredFiles(runtime, entries(storageDrivers));
        await runScheduled({ runtime, files, log, signal: AbortSignal.any([signal, stopping]) });
        await removeAbandonedDatabases(runtime.sql);
        await removeAbandonedFolders();
      },
    },
    crons: [{ task: scheduledTask, match: '*/5 * * * *' }],
  }),
};
