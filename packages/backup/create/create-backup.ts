import {
  type MigrationFile,
  openDatabase,
  readMigrationFiles,
  type Sql,
  schemaStateTables,
  selectDatabaseId,
  selectMigrations,
  type Transaction,
} from '@tradepost/postgres';
import { jobSchema, jobSchemaStateTables } from '@tradepost/runtime';
import type { StoredFiles } from '@tradepost/storage';
import { countRows, readRows } from '../database/copy-rows.ts';
import {
  exportSnapshot,
  lockTables,
  selectSequences,
  selectTables,
  setTextForms,
  type TableFacts,
  tryBackupLock,
} from '../database/table-store.ts';
import { backupErrors } from '../errors.ts';
import { compressionOfBackups } from '../format/compression.ts';
import { type Manifest, manifestEntry, manifestText, type UploadChoice } from '../format/manifest.ts';
import { connectionsAtOnce } from '../limits.ts';
import type { BackupWriter } from '../places/place.ts';
import { programVersion } from '../program-version.ts';
import { openPartWriter, type PartWriter } from './part-writer.ts';
import { writeFiles } from './write-files.ts';

export type BackupProgress = { table: string; rows: number; bytes: number; files: number };

export type CreateOptions = {
  readonly url: string;
  /** Opens the place of the backup. Called when no other backup of this database runs. `source` is the id of the database. */
  readonly open: (source: string) => Promise<BackupWriter>;
  /** The uploaded files. Null only where none are included. */
  readonly files: StoredFiles | null;
  readonly uploads: UploadChoice;
  /** Ends the backup and removes what it wrote. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BackupProgress) => void;
  /** Folder of the numbered migrations. Default: `sql/` of this checkout. */
  readonly directory?: string;
};

export type CreatedBackup = { readonly location: string; readonly bytes: number; readonly manifest: Manifest };

const isolation = 'isolation level repeatable read read only';

/** The migrations of the database. Refuses a database without a shop, and one that is newer than this program. */
async function migrationsOf(tx: Transaction, files: readonly MigrationFile[]): Promise<MigrationFile[]> {
  const applied = await selectMigrations(tx);
  if (applied.length === 0) throw backupErrors.no_shop();
  const unknown = applied.find(({ id, checksum }) => files[id - 1]?.checksum !== checksum);
  if (unknown) throw backupErrors.newer_database({ migration: unknown.name });
  return applied.map(({ id, name, checksum }) => ({ id, name, checksum }));
}

/** Writes the rows of all tables, on several connections that share the snapshot. Resolves with the rows of each table. */
async function writeTables(
  sql: Sql,
  snapshot: string,
  tables: readonly TableFacts[],
  { parts, report, signal }: { parts: PartWriter; report(change: Partial<BackupProgress>): void; signal: AbortSignal },
): Promise<number[]> {
  const rowsOf = tables.map(() => 0);
  let next = 0;
  let failed: { error: unknown } | null = null;
  const copyTable = async (tx: Transaction, index: number) => {
    const table = tables[index]!;
    for await (const chunk of readRows(tx, table)) {
      signal.throwIfAborted();
      const rows = countRows(chunk);
      rowsOf[index]! += rows;
      report({ table: `${table.schema}.${table.name}`, rows, bytes: chunk.length });
      await parts.add(chunk, { table: index, rows });
    }
  };
  const copyTables = async (tx: Transaction) => {
    await tx.unsafe(`set transaction snapshot '${snapshot.replaceAll(/[^\w-]/g, '')}'`);
    await setTextForms(tx);
    while (next < tables.length && !failed) await copyTable(tx, next++);
  };
  const connection = () =>
    sql.begin(isolation, (tx) =>
      copyTables(tx).catch((error: unknown) => {
        // The first error is the reason. A connection whose table was not read to its end has others.
        failed ??= { error };
        throw error;
      }),
    );
  const ends = await Promise.allSettled(Array.from({ length: connectionsAtOnce }, connection));
  if (failed) throw (failed as { error: unknown }).error;
  // Such as a connection that the server did not accept.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return rowsOf;
}

/** Writes a backup in the transaction whose snapshot it has. */
async function writeBackup(
  sql: Sql,
  tx: Transaction,
  options: CreateOptions & { signal: AbortSignal },
): Promise<CreatedBackup> {
  const begun = new Date();
  await setTextForms(tx);
  if (!(await tryBackupLock(tx))) throw backupErrors.another_backup();
  const { snapshot, at, version } = await exportSnapshot(tx);
  const { files, schemas } = await readMigrationFiles(options.directory);
  const migrations = await migrationsOf(tx, files);
  const source = await selectDatabaseId(tx);
  const all = [...schemas, jobSchema];
  const tables = await selectTables(tx, all, [...schemaStateTables, ...jobSchemaStateTables]);
  const progress: BackupProgress = { table: '', rows: 0, bytes: 0, files: 0 };
  const report = ({ table = progress.table, rows = 0, bytes = 0 }: Partial<BackupProgress>) => {
    Object.assign(progress, { table, rows: progress.rows + rows, bytes: progress.bytes + bytes });
    options.onProgress?.(progress);
  };
  const writer = await options.open(source);
  const parts = openPartWriter(writer, compressionOfBackups);
  try {
    await lockTables(tx, tables);
    const rows = await writeTables(sql, snapshot, tables, { parts, report, signal: options.signal });
    const sequences = await selectSequences(tx, all);
    const uploads = await writeFiles(tx, {
      ...{ files: options.files, included: options.uploads, parts },
      onFile(count) {
        options.signal.throwIfAborted();
        progress.files = count.files;
        report({ table: 'uploads' });
      },
    });
    const manifest: Manifest = {
      ...{ program: programVersion, source, postgres: version, compression: compressionOfBackups },
      ...{ begun_at: begun.toISOString(), snapshot_at: at.toISOString(), ended_at: new Date().toISOString() },
      ...{ migrations, sequences, uploads },
      tables: tables.map(({ schema, name, columns }, index) => ({
        ...{ schema, name, columns: [...columns], rows: rows[index]! },
      })),
      parts: await parts.end(),
    };
    await writer.put(manifestEntry, Buffer.from(manifestText(manifest)));
    return { location: writer.location, bytes: await writer.finish(), manifest };
  } catch (error) {
    await parts.settle();
    await writer.discard().catch(() => {});
    throw error;
  }
}

/**
 * Backs up the shop of a database while it runs. All tables are read in one snapshot. Memory stays bounded: rows are compressed
 * and written in parts. Refuses when another backup of this database runs.
 */
export async function createBackup(options: CreateOptions): Promise<CreatedBackup> {
  const { signal = new AbortController().signal } = options;
  const sql = openDatabase(options.url, {
    max: connectionsAtOnce + 1,
    ...{ name: 'tradepost backup', maxLifetimeSeconds: null },
  });
  let work: Promise<CreatedBackup> | null = null;
  let lost: unknown;
  try {
    // The transaction changes nothing: when the backup is complete, a failure of its end does not matter.
    await sql
      .begin(isolation, async (tx) => {
        work = writeBackup(sql, tx, { ...options, signal });
        await work.catch(() => {});
      })
      .catch((error: unknown) => {
        lost = error;
      });
  } finally {
    // A table that is being read when the backup fails ends with its connection.
    await sql.end({ timeout: 1 });
  }
  // A lost connection ends the transaction at once. What is written is removed before this rejects.
  if (!work) throw lost;
  return work;
}
