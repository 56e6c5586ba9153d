import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase, type Sql } from './client.ts';

/** The folder of the numbered files in this checkout. */
const migrationsDirectory = join(import.meta.dirname, '../../sql');
/** The advisory lock of every process that migrates. The number is arbitrary and must never change. */
const lockKey = 7_205_883_101;

export class MigrationError extends Error {
  override name = 'MigrationError';
}

type Migration = { id: number; name: string; text: string; checksum: string };

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    names.map(async (name) => {
      const id = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
      if (!Number.isInteger(id)) throw new MigrationError(`${name}: a migration is named NNNN_words.sql`);
      const text = await readFile(join(directory, name), 'utf8');
      // Line endings do not count: a checkout on Windows must not count as edited.
      const checksum = createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
      return { id, name, text, checksum };
    }),
  );
  migrations.forEach((migration, index) => {
    if (migration.id !== index + 1)
      throw new MigrationError(`${migration.name}: expected number ${String(index + 1).padStart(4, '0')}`);
  });
  return migrations;
}

function checkHistory(migrations: Migration[], applied: { id: number; name: string; checksum: string }[]): void {
  for (const row of applied) {
    const migration = migrations[row.id - 1];
    if (!migration)
      throw new MigrationError(
        `The database has migration ${row.name}, which this version does not know: it was migrated by a newer version. Run that version, or restore a backup.`,
      );
    if (migration.checksum !== row.checksum)
      throw new MigrationError(
        `sql/${migration.name} was edited after it had been applied to this database. Applied migrations never change: restore the file and put the change into a new migration.`,
      );
  }
}

type Applied = { id: number; name: string; checksum: string };
const selectApplied = (sql: Sql) => sql<Applied[]>`
  select id, name, checksum from runtime.migrations order by id`;

/**
 * Compares a database with this version: files not applied, rows unknown to this version, files edited after they were
 * applied.
 */
export async function migrationState(sql: Sql): Promise<{ missing: string[]; unknown: string[]; edited: string[] }> {
  const migrations = await readMigrations(migrationsDirectory);
  const [table] = await sql<{ known: boolean }[]>`select to_regclass('runtime.migrations') is not null as known`;
  const done = table?.known ? await selectApplied(sql) : [];
  const known = (row: Applied) => migrations[row.id - 1];
  return {
    missing: migrations.slice(done.length).map((migration) => migration.name),
    unknown: done.filter((row) => !known(row)).map((row) => row.name),
    edited: done.filter((row) => known(row) && known(row)?.checksum !== row.checksum).map((row) => row.name),
  };
}

export type Migrated = { applied: string[]; total: number };

export type MigrateOptions = {
  /** Folder of the numbered files. Default: `sql/` of this checkout. */
  directory?: string;
  onStep?: (name: string) => void;
  checkOnly?: boolean;
  /** Runs after the files, under the same lock. For a schema that a library owns. */
  finish?: (url: string) => Promise<void>;
};

/**
 * Applies the missing migrations, each in a transaction of its own, under an advisory lock: instances that start
 * together wait for the one that migrates. Throws MigrationError when an applied migration was edited or is unknown.
 * With `checkOnly` nothing is changed, and a missing migration is an error too.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<Migrated> {
  const migrations = await readMigrations(options.directory ?? migrationsDirectory);
  const sql: Sql = openDatabase(url, { max: 1, name: 'tradepost migrate' });
  const applied: string[] = [];
  try {
    const [server] = await sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`;
    if ((server?.version ?? 0) < 150_000) throw new MigrationError('PostgreSQL 15 or newer is needed');
    if (options.checkOnly) {
      const [table] = await sql<{ known: boolean }[]>`select to_regclass('runtime.migrations') is not null as known`;
      const done = table?.known ? await selectApplied(sql) : [];
      checkHistory(migrations, done);
      if (done.length < migrations.length)
        throw new MigrationError('The database is not at this version yet: run `tradepost migrate` first');
      return { applied, total: migrations.length };
    }
    await sql`select pg_advisory_lock(${lockKey})`;
    await sql`create schema if not exists runtime`;
    await sql`
      create table if not exists runtime.migrations (
        id int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`;
    const done = await selectApplied(sql);
    checkHistory(migrations, done);
    for (const migration of migrations.slice(done.length)) {
      options.onStep?.(migration.name);
      await sql.begin(async (tx) => {
        await tx.unsafe(migration.text);
        await tx`
          insert into runtime.migrations (id, name, checksum)
          values (${migration.id}, ${migration.name}, ${migration.checksum})`;
      });
      applied.push(migration.name);
    }
    await options.finish?.(url);
    await sql`select pg_advisory_unlock(${lockKey})`;
  } finally {
    await sql.end({ timeout: 5 });
  }
  return { applied, total: migrations.length };
}
