import type { TableInChangeLog } from '@tradepost/runtime';

export const backupTables: readonly string[] = ['backup.runs'];

/** The tables in the change log: why the table is not watched. */
export const backupInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'backup.runs': { unwatched: 'Written by the job of backups and by the command.' },
};
