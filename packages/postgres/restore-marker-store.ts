import type { Queryable, Transaction } from './client.ts';

/**
 * The marker of a database that a backup is restored into. It exists from the first statement of the restore to its last one, so
 * a database that a killed restore has left is recognised: nothing else opens it.
 */

/** Whether a restore into this database has begun and has not ended. */
export async function isRestoring(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ is_marked: boolean }[]>`select to_regclass('runtime.restoring') is not null as is_marked`;
  return row!.is_marked;
}

/** Marks an empty database. */
export async function markRestoring(tx: Transaction): Promise<void> {
  await tx`create schema if not exists runtime`;
  await tx`create table runtime.restoring (begun_at timestamptz not null default now())`;
}

/** Removes the marker: everything is restored. */
export async function markRestored(sql: Queryable): Promise<void> {
  await sql`drop table runtime.restoring`;
}
