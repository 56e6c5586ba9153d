import type { Audit } from '@tradepost/runtime';

export const backupAudits: readonly Audit[] = [
  {
    name: 'backup.runs',
    about: 'every backup that is complete has a length',
    query: (sql) => sql`select id as run_id, location from backup.runs where error = '' and bytes = 0`,
  },
];
