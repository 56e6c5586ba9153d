import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Sql } from '../client.ts';
import { grantCreate } from '../missing-rights.ts';
import { isRestoring } from '../restore-marker-store.ts';
import { type Migration, MigrationError, readMigrations, thisRelease } from './migration-files.ts';
import { refuseFaults } from './migration-state.ts';
import { createHistory, insertMigration, selectMigrations } from './migration-store.ts';

/** The advisory lock of every process that migrates. The number is arbitrary and must never change. */
const lockKey = 7_205_883_101;
/**
 * A statement that waits for a lock makes later statements on the table wait behind it, so the shop would stand still. A file that
 * does not get its locks in this time is rolled back, and begins again after a pause.
 */
const lockTimeoutMs = 2_000;
const pauseMs = 1_000;
/** After this time the locks are given up. */
const lockPatienceMs = 10 * 60_000;
const heartbeatMs = 5_000;
/** lock_not_available, deadlock_detected. */
const lockFaults = new Set(['55P03', '40P01']);

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

/** Calls `report` every few seconds until `work` ends. */
async function withHeartbeat<T>(report: (seconds: number) => void, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const timer = setInterval(() => report(Math.round((performance.now() - begun) / 1000)), heartbeatMs);
  timer.unref();
  return work().finally(() => clearInterval(timer));
}

export type Migrated = { applied: string[]; total: number };

export type MigrateOptions = {
  /** Folder of the numbered files. Default: `sql/` of this checkout. */
  directory?: string;
  /** A file is being applied. */
  onStep?: (name: string) => void;
  /** A line about what is done, for people. Long steps repeat it every few seconds. */
  onProgress?: (line: string) => void;
  checkOnly?: boolean;
  /** The number of the last file to apply. Default: all. */
  through?: number;
  /** True for the restore that has marked the database. Others refuse a database that is not restored completely. */
  restoring?: boolean;
  /** Runs after the files, under the same lock. For a schema that a library owns. */
  finish?: (url: string) => Promise<void>;
};

/** Applies a file in a transaction. Repeats it while other transactions hold its locks. */
async function apply(sql: Sql, migration: Migration, say: (line: string) => void): Promise<void> {
  const begun = performance.now();
  for (;;) {
    try {
      await sql.begin(async (tx) => {
        await tx`select set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`;
        await tx.unsafe(migration.text);
        await insertMigration(tx, migration, thisRelease);
      });
      return;
    } catch (error) {
      if (!lockFaults.has(String((error as { code?: unknown }).code))) throw error;
      if (performance.now() - begun > lockPatienceMs)
        throw new MigrationError(
          `${migration.name}: other transactions have held its tables for ${lockPatienceMs / 60_000} minutes. \`tradepost doctor\` names a long transaction. End it, then repeat \`tradepost migrate\`: migrations before this one are applied.`,
        );
      say(`${migration.name}: its tables are in use by another transaction, trying again`);
      await sleep(pauseMs);
    }
  }
}

/**
 * Applies the missing migrations, each in a transaction of its own, under an advisory lock: instances that start
 * together wait for the one that migrates. Throws MigrationError when an applied migration was edited or is unknown.
 * With `checkOnly` nothing is changed, and a missing migration is an error too.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<Migrated> {
  const { checkOnly = false, onProgress: say = () => {} } = options;
  const migrations = await readMigrations(options.directory);
  const sql: Sql = openDatabase(url, { max: 1, name: 'tradepost migrate', maxLifetimeSeconds: null });
  const applied: string[] = [];
  try {
    const [server] = await sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`;
    if ((server?.version ?? 0) < 150_000) throw new MigrationError('PostgreSQL 15 or newer is needed');
    if (!checkOnly) await refuseWithoutCreate(sql);
    const restoring = !options.restoring && (await isRestoring(sql));
    refuseFaults(migrations, await selectMigrations(sql), { restoring, mayMigrate: !checkOnly });
    if (checkOnly) return { applied, total: migrations.length };
    await withHeartbeat(
      (seconds) => say(`waiting for another process that migrates (${seconds} s)`),
      async () => sql`select pg_advisory_lock(${lockKey})`,
    );
    await createHistory(sql);
    const done = await selectMigrations(sql);
    refuseFaults(migrations, done, { restoring: false, mayMigrate: true });
    const missing = migrations.slice(done.length, options.through);
    for (const [index, migration] of missing.entries()) {
      const line = `migrating ${index + 1} of ${missing.length}: ${migration.name}`;
      options.onStep?.(migration.name);
      say(line);
      await withHeartbeat(
        (seconds) => say(`${line} (${seconds} s)`),
        () => apply(sql, migration, say),
      );
      applied.push(migration.name);
    }
    await options.finish?.(url);
    await sql`select pg_advisory_unlock(${lockKey})`;
  } finally {
    await sql.end({ timeout: 5 });
  }
  return { applied, total: migrations.length };
}
