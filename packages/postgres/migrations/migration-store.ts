import type { Queryable, Transaction } from '../client.ts';
import type { Migration, MigrationFile } from './migration-files.ts';

/** A migration that a database has. `release`: the release that applied it; null for one before 0.2.0, which recorded none. */
export type AppliedMigration = MigrationFile & { release: string | null };

/** The migrations that a database has, in order. Empty when it has none. */
export async function selectMigrations(sql: Queryable): Promise<AppliedMigration[]> {
  const [table] = await sql<{ known: boolean }[]>`select to_regclass('runtime.migrations') is not null as known`;
  // A database that an older release has migrated does not have the column `release`.
  return table?.known
    ? sql<AppliedMigration[]>`
        select id, name, checksum, to_jsonb(m) ->> 'release' as release from runtime.migrations m order by id`
    : [];
}

/**
 * The id of a database of the shop, 8 hex digits. A copy that was restored from a backup has another one: it was migrated at
 * another time.
 */
export async function selectDatabaseId(sql: Queryable): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select left(md5(current_database() || extract(epoch from min(applied_at))), 8) as id from runtime.migrations`;
  return row!.id;
}

/** Creates the table of the applied migrations where it is missing. */
export async function createHistory(sql: Queryable): Promise<void> {
  await sql`create schema if not exists runtime`;
  await sql`
    create table if not exists runtime.migrations (
      id int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now(),
      release text)`;
  // `add column if not exists` alone waits for every reader of the table, also when the column is there.
  const [column] = await sql`
    select 1 from pg_attribute
    where attrelid = 'runtime.migrations'::regclass and attname = 'release' and not attisdropped`;
  if (!column) await sql`alter table runtime.migrations add column if not exists release text`;
}

export async function insertMigration(tx: Transaction, migration: Migration, release: string): Promise<void> {
  await tx`
    insert into runtime.migrations (id, name, checksum, release)
    values (${migration.id}, ${migration.name}, ${migration.checksum}, ${release})`;
}

/** The number of rows of these tables, as PostgreSQL estimates it. A table that does not exist has none. */
export async function estimateRows(sql: Queryable, tables: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ name: string; rows: number }[]>`
    select t.name, greatest(c.reltuples, s.n_live_tup, 0)::bigint as rows
    from unnest(${[...tables]}::text[]) as t (name)
    join pg_class c on c.oid = to_regclass(t.name)
    left join pg_stat_user_tables s on s.relid = c.oid`;
  return new Map(rows.map((row) => [row.name, row.rows]));
}
