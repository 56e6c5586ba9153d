import { randomBytes } from 'node:crypto';
import { openDatabase, type Sql } from '@tradepost/runtime';
import { inject } from 'vitest';
import { templateDatabase } from './cluster.ts';

export type TestDatabase = { url: string; sql: Sql; drop(): Promise<void> };

/** A database of this file's own, cloned from the migrated template in a few milliseconds. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const clusterUrl = inject('clusterUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = openDatabase(clusterUrl, { max: 1 });
  await admin.unsafe(`create database ${name} template ${templateDatabase}`);
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  const sql = openDatabase(url.toString(), { max: 4, name: 'test' });
  return {
    url: url.toString(),
    sql,
    async drop() {
      await sql.end({ timeout: 1 });
      // A connection that is still there is a leak of the code under test: the drop then fails, and with it the file.
      const left = await admin<{ application_name: string }[]>`
        select application_name from pg_stat_activity where datname = ${name}`;
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
      if (left.length > 0)
        throw new Error(`connections left open: ${left.map((row) => row.application_name).join(', ')}`);
    },
  };
}
