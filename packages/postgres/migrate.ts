import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase, type Queryable, type Sql } from './client.ts';
import { grantCreate } from './missing-rights.ts';
import { isRestoring } from './restore-marker-store.ts';

/** The folder of the numbered files in this checkout. */
const migrationsDirectory = join(import.meta.dirname, '../../sql');
/** The advisory lock of every process that migrates. The number is arbitrary and must never change. */
const lockKey = 7_205_883_101;

export class MigrationError extends Error {
  override name = 'MigrationError';
}

type Migration = { id: number; name: string; text: string; checksum: string };

/** A migration file. `checksum` is that of its text. */
export type MigrationFile = Pick<Migration, 'id' | 'name' | 'checksum'>;

/** The migration files of this version, and the schemas that they create. */
export async function readMigrationFiles(
  directory = migrationsDirectory,
): Promise<{ files: MigrationFile[]; schemas: string[] }> {
  const migrations = await readMigrations(directory);
  const created = migrations.flatMap(({ text }) => [...text.matchAll(/^create schema (?:if not exists )?(\w+)/gim)]);
  return {
    files: migrations.map(({ id, name, checksum }) => ({ id, name, checksum })),
    schemas: [...new Set(['runtime', ...created.map(([, schema]) => schema!)])],
  };
}

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

type Applied = MigrationFile;
const selectApplied = (sql: Queryable) => sql<Applied[]>`
  select id, name, checksum from runtime.migrations order by id`;

/** The migrations that a database has, in order. Empty when it has none. */
export async function selectMigrations(sql: Queryable): Promise<MigrationFile[]> {
  const [table] = await sql<{ known: boolean }[]>`select to_regclass('runtime.migrations') is not null as known`;
  return table?.known ? await selectApplied(sql) : [];
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

/**
 * Compares a database with this version: files not applied, rows unknown to this version, files edited after they were
 * applied.
 */
export async function migrationState(sql: Sql): Promise<{ missing: string[]; unknown: string[]; edited: string[] }> {
  const migrations = await readMigrations(migrationsDirectory);
  const done = await selectMigrations(sql);
  const known = (row: Applied) => migrations[row.id - 1];
  return {
    missing: migrations.slice(done.length).map((migration) => migration.name),
    unknown: done.filter((row) => !known(row)).map((row) => row.name),
    edited: done.filter((row) => known(row) && known(row)?.checksum !== row.checksum).map((row) => row.name),
  };
}

/** Without it the first statement fails with a message that does not say which right is missing. */
async function refuseWithoutCreate(sql: Sql): Promise<void> {
  const [row] = await sql<{ database: string; account: string; may_create: boolean }[]>`
    select current_database()::text as database, current_user::text as account,
           has_database_privilege(current_database(), 'create') as may_create`;
  const { database, account, may_create } = row!;
  if (!may_create)
    throw new MigrationError(
      `The account ${account} has no CREATE right on the database ${database}, which migrations need. Its owner gives it: ${grantCreate(database, account)}`,
    );
}

export type Migrated = { applied: string[]; total: number };

export type MigrateOptions = {
  /** Folder of the numbered files. Default: `sql/` of this checkout. */
  directory?: string;
  onStep?: (name: string) => void;
  checkOnly?: boolean;
  /** The number of the last file to apply. Default: all. */
  through?: number;
  /** True for the restore that has marked the database. Others refuse a database that is not restored completely. */
  restoring?: boolean;
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
    if (!options.checkOnly) await refuseWithoutCreate(sql);
    if (!options.restoring && (await isRestoring(sql)))
      throw new MigrationError(
        'A restore into this database has not ended. Repeat `tradepost backup restore`: it removes what is there and begins again',
      );
    if (options.checkOnly) {
      const done = await selectMigrations(sql);
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
    for (const migration of migrations.slice(done.length, options.through)) {
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
