import {
  isRestoring,
  markRestored,
  markRestoring,
  openDatabase,
  readMigrationFiles,
  type Sql,
  schemaStateTables,
} from '@tradepost/postgres';
import { jobSchema, jobSchemaStateTables, migrateDatabase } from '@tradepost/runtime';
import { countRows, writeRows } from '../database/copy-rows.ts';
import {
  type Definitions,
  dropDefinitions,
  firstDifference,
  rebuild,
  rebuildSteps,
  selectDefinitions,
} from '../database/definition-store.ts';
import {
  analyzeTables,
  dropSchemas,
  selectContent,
  selectEncoding,
  truncateTables,
  tryRestoreLock,
} from '../database/empty-store.ts';
import { countTable, selectTables, setSequences } from '../database/table-store.ts';
import { backupErrors } from '../errors.ts';
import type { Manifest, Part } from '../format/manifest.ts';
import { connectionsAtOnce } from '../limits.ts';
import type { OpenedBackup } from './read-parts.ts';

type RestoreStep = 'migrating' | 'rows' | 'indexes' | 'uploads';
export type RestoreProgress = { step: RestoreStep; rows: number; of: number };

export type RestoreOptions = {
  readonly url: string;
  /** Runs when all rows are there, before the database is usable: writes the uploaded files. */
  readonly restoreUploads?: (sql: Sql) => Promise<void>;
  readonly onProgress?: (progress: RestoreProgress) => void;
  /** Called with what is left of an interrupted restore before it is removed. */
  readonly onLeftover?: () => void;
  /** Ends the restore after the part that is being written. The database is empty again. */
  readonly signal?: AbortSignal;
  /** Folder of the numbered migrations. Default: `sql/` of this checkout. */
  readonly directory?: string;
  /** Counts the rows of all tables before the migrations go on, and refuses other counts than those of the backup. */
  readonly countRows?: boolean;
};

/** The number of the migration of the backup. Refuses a backup that this program cannot restore. */
async function checkMigrations({ location, manifest }: OpenedBackup, directory?: string): Promise<number> {
  const { files } = await readMigrationFiles(directory);
  const { migrations, program } = manifest;
  for (const [index, { id, name, checksum }] of migrations.entries()) {
    const known = files[index];
    if (!known || id !== known.id) throw backupErrors.newer_schema({ place: location, migration: name, program });
    if (known.checksum !== checksum) throw backupErrors.other_schema({ place: location, migration: name, program });
  }
  return migrations.length;
}

/** Marks an empty database. What an interrupted restore has left is removed; everything else is refused. */
async function claimDatabase(sql: Sql, schemas: readonly string[], onLeftover?: () => void): Promise<void> {
  await sql.begin(async (tx) => {
    const encoding = await selectEncoding(tx);
    if (encoding !== 'UTF8') throw backupErrors.wrong_encoding({ encoding });
    if (await isRestoring(tx)) {
      onLeftover?.();
      await dropSchemas(tx, schemas);
    }
    const content = await selectContent(tx, schemas);
    if (content.length > 0) throw backupErrors.not_empty({ tables: content.join(', ') });
    await markRestoring(tx);
  });
}

/** Refuses rows for tables and columns that the migrations do not create. */
async function checkTables(sql: Sql, manifest: Manifest, schemas: readonly string[]) {
  const tables = await selectTables(sql, schemas, [...schemaStateTables, ...jobSchemaStateTables]);
  const columns = new Map(tables.map((table) => [`${table.schema}.${table.name}`, new Set(table.columns)]));
  for (const table of manifest.tables) {
    const name = `${table.schema}.${table.name}`;
    const known = columns.get(name);
    const unknown = known ? table.columns.find((column) => !known.has(column)) : undefined;
    const { program } = manifest;
    if (!known) throw backupErrors.unknown_table({ table: name, program });
    if (unknown !== undefined) throw backupErrors.unknown_table({ table: `${name}.${unknown}`, program });
  }
  return tables;
}

/** Writes the rows of all parts, on several connections. */
async function loadRows(sql: Sql, backup: OpenedBackup, onRows: (rows: number) => void): Promise<void> {
  const { tables, parts } = backup.manifest;
  const waiting = parts.filter(({ table }) => table !== null);
  const load = async (part: Part) => {
    const table = tables[part.table!];
    const text = await backup.readPart(part);
    if (!table || countRows(text) !== part.rows)
      throw backupErrors.altered({ place: backup.location, part: part.name });
    await writeRows(sql, table, text);
    onRows(part.rows);
  };
  const run = async () => {
    for (let part = waiting.shift(); part; part = waiting.shift()) {
      await load(part).catch((error: unknown) => {
        waiting.length = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: connectionsAtOnce }, run));
}

async function checkCounts(sql: Sql, { location, manifest }: OpenedBackup): Promise<void> {
  for (const table of manifest.tables)
    if ((await countTable(sql, table)) !== table.rows)
      throw backupErrors.altered({ place: location, part: `${table.schema}.${table.name}` });
}

/** Fills the migrated database with the rows of the backup. */
async function fillDatabase(
  sql: Sql,
  backup: OpenedBackup,
  { schemas, countRows: isCounted = false }: { schemas: readonly string[]; countRows?: boolean | undefined },
  report: (step: RestoreStep, rows?: number) => void,
): Promise<void> {
  const tables = await checkTables(sql, backup.manifest, schemas);
  const before = await selectDefinitions(sql, schemas);
  const dropped: Definitions = await sql.begin(async (tx) => {
    await truncateTables(tx, tables);
    return dropDefinitions(tx, before);
  });
  report('rows');
  await loadRows(sql, backup, (rows) => report('rows', rows));
  report('indexes');
  await rebuild(sql, rebuildSteps(dropped), connectionsAtOnce);
  const different = firstDifference(before, await selectDefinitions(sql, schemas));
  if (different) throw backupErrors.definitions_changed({ name: different });
  await sql.begin((tx) => setSequences(tx, backup.manifest.sequences));
  if (isCounted) await checkCounts(sql, backup);
  await analyzeTables(sql, tables);
}

async function restoreLocked(backup: OpenedBackup, options: RestoreOptions): Promise<void> {
  const { url, directory, onProgress, signal } = options;
  const through = await checkMigrations(backup, directory);
  const schemas = [...(await readMigrationFiles(directory)).schemas, jobSchema];
  const progress: RestoreProgress = {
    ...{ step: 'migrating', rows: 0 },
    of: backup.manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
  };
  const report = (step: RestoreStep, rows = 0) => {
    signal?.throwIfAborted();
    Object.assign(progress, { step, rows: progress.rows + rows });
    onProgress?.(progress);
  };
  const sql = openDatabase(url, {
    max: connectionsAtOnce,
    ...{ name: 'tradepost restore', maxLifetimeSeconds: null },
    settings: {
      ...{ statement_timeout: '0', maintenance_work_mem: '128MB' },
      // The marker covers everything: after a crash of the server the restore begins again.
      synchronous_commit: 'off',
    },
  });
  let isClaimed = false;
  try {
    await claimDatabase(sql, schemas, options.onLeftover);
    isClaimed = true;
    report('migrating');
    const migration = { restoring: true, ...(directory === undefined ? {} : { directory }) };
    await migrateDatabase(url, { ...migration, through });
    await fillDatabase(sql, backup, { schemas, countRows: options.countRows }, report);
    report('migrating');
    await migrateDatabase(url, migration);
    report('uploads');
    await options.restoreUploads?.(sql);
    await markRestored(sql);
  } catch (error) {
    // The database is empty again. When that fails too, the marker remains.
    if (isClaimed) await sql.begin((tx) => dropSchemas(tx, schemas)).catch(() => {});
    throw error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Restores a backup into an empty database: migrates it to the migration of the backup, writes the rows, and migrates it on to
 * this version. Until the end a marker keeps servers from using the database. After an error the database is empty again; after a
 * kill the next restore begins again.
 */
export async function restoreBackup(backup: OpenedBackup, options: RestoreOptions): Promise<void> {
  const sql = openDatabase(options.url, { max: 1, name: 'tradepost restore lock', maxLifetimeSeconds: null });
  let work: Promise<void> | null = null;
  let lost: unknown;
  try {
    // The transaction holds the lock and changes nothing.
    await sql
      .begin(async (tx) => {
        if (!(await tryRestoreLock(tx))) throw backupErrors.another_restore();
        work = restoreLocked(backup, options);
        await work.catch(() => {});
      })
      .catch((error: unknown) => {
        lost = error;
      });
    if (!work) throw lost;
    await work;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
