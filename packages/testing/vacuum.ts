import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';

/**
 * Brings tables (`schema.name`) into the state after autovacuum: statistics are new and all pages are known to be visible
 * to everyone, so that plans and index-only scans are those of a shop in use. One VACUUM is not enough where another
 * transaction of the database is open meanwhile, such as one of autovacuum itself.
 */
export async function vacuumTables(sql: Sql, ...tables: readonly string[]): Promise<void> {
  for (let round = 1; ; round++) {
    await sql.unsafe(`vacuum (analyze, index_cleanup on) ${tables.join(', ')}`);
    const hidden = await sql<{ name: string }[]>`
      select oid::regclass::text as name from pg_class
      where oid = any(${tables}::regclass[]) and relallvisible < relpages`;
    if (hidden.length === 0) return;
    if (round === 100)
      throw new Error(`${hidden.map((row) => row.name).join(', ')}: a transaction has been open for 10 s`);
    await sleep(100);
  }
}
