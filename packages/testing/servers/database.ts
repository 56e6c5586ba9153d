import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { inject } from 'vitest';
import { cloneStatement, templateDatabase } from './cluster.ts';

export type TestDatabase = { url: string; sql: Sql; drop(): Promise<void> };

/** Creates an empty database, without migrations. */
export const createEmptyDatabase = (): Promise<TestDatabase> => cloneDatabase('template0');

/** Creates a database for one test file. Cloning the migrated template takes a few milliseconds. */
export async function cloneDatabase(template = templateDatabase): Promise<TestDatabase> {
  const clusterUrl = inject('clusterUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = openDatabase(clusterUrl, { max: 1 });
  await admin.unsafe(cloneStatement(name, template));
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  const sql = openDatabase(url.toString(), { max: 4, name: 'test' });
  return {
    url: url.toString(),
    sql,
    async drop() {
      await sql.end({ timeout: 1 });
      // A connection that stays open is a leak of the code under test and fails the file. Closing takes the server a moment.
      const connections = () =>
        admin<{ application_name: string }[]>`select application_name from pg_stat_activity where datname = ${name}`;
      let left = await connections();
      for (let attempt = 0; left.length > 0 && attempt < 300; attempt += 1) {
        await sleep(10);
        left = await connections();
      }
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
      if (left.length > 0)
        throw new Error(`connections left open: ${left.map((row) => row.application_name).join(', ')}`);
    },
  };
}
