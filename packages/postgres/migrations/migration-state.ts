import type { Queryable } from '../client.ts';
import { isRestoring } from '../restore-marker-store.ts';
import { type Migration, MigrationError, readMigrations, thisRelease } from './migration-files.ts';
import { type AppliedMigration, selectMigrations } from './migration-store.ts';

type MigrationState = {
  /** Files that the database does not have. */
  missing: string[];
  /** Migrations that this version does not know: a newer one has applied them. */
  unknown: string[];
  /** Files that were edited after they had been applied. */
  edited: string[];
  /** The release that applied the unknown migrations, where it is recorded. */
  newerRelease: string | null;
  /** A restore into the database has begun and has not ended. */
  restoring: boolean;
};

const stateOf = (migrations: readonly Migration[], done: readonly AppliedMigration[]) => {
  const known = (row: AppliedMigration) => migrations[row.id - 1];
  const unknown = done.filter((row) => !known(row));
  return {
    missing: migrations.slice(done.length).map((migration) => migration.name),
    unknown: unknown.map((row) => row.name),
    edited: done.filter((row) => known(row) && known(row)?.checksum !== row.checksum).map((row) => row.name),
    newerRelease: unknown.at(-1)?.release ?? null,
  };
};

/**
 * Compares a database with this version: files not applied, rows unknown to this version, files edited after they were
 * applied, a restore that has not ended.
 */
export async function migrationState(sql: Queryable, directory?: string): Promise<MigrationState> {
  const migrations = await readMigrations(directory);
  return { ...stateOf(migrations, await selectMigrations(sql)), restoring: await isRestoring(sql) };
}

/** What is wrong, and what to do. */
export type MigrationFault = {
  readonly id: 'restoring' | 'newer' | 'edited' | 'missing';
  readonly what: string;
  readonly todo: string;
};

/** What keeps this version from working on the database. Empty: it is exactly at this version. The most urgent comes first. */
export function migrationFaults(state: Omit<MigrationState, 'restoring'> & { restoring?: boolean }): MigrationFault[] {
  const { missing, unknown, edited, newerRelease, restoring = false } = state;
  const faults: MigrationFault[] = [];
  if (restoring)
    faults.push({
      id: 'restoring',
      what: 'A restore into this database has not ended',
      todo: 'Repeat `tradepost backup restore`: it removes what is there and begins again',
    });
  if (unknown.length > 0)
    faults.push({
      id: 'newer',
      what: `The database is newer than this version (${thisRelease}), which does not know ${unknown.join(', ')}: it was migrated by a newer version${newerRelease ? ` (${newerRelease})` : ''}`,
      todo: `Run ${newerRelease ? `version ${newerRelease} or newer` : 'that version'}, or restore a backup that was made before`,
    });
  if (edited.length > 0)
    faults.push({
      id: 'edited',
      what: `sql/${edited.join(', sql/')} was edited after it had been applied to this database`,
      todo: 'Applied migrations never change: restore the file and put the change into a new migration',
    });
  // A newer database lacks nothing that this version could add.
  if (missing.length > 0 && unknown.length === 0)
    faults.push({
      id: 'missing',
      what: `The database is not at this version (${thisRelease}) yet: ${missing.length} migrations are not applied (${missing[0]}${missing.length > 1 ? ` to ${missing.at(-1)}` : ''})`,
      todo: 'Run `tradepost migrate`; `tradepost migrate --plan` lists what it does',
    });
  return faults;
}

const textOf = ({ what, todo }: MigrationFault) => `${what}. ${todo}.`;

/** Throws MigrationError for the first fault. With `mayMigrate` missing migrations are no fault. */
export function refuseFaults(
  migrations: readonly Migration[],
  done: readonly AppliedMigration[],
  { restoring, mayMigrate }: { restoring: boolean; mayMigrate: boolean },
): void {
  const faults = migrationFaults({ ...stateOf(migrations, done), restoring });
  const fault = faults.find(({ id }) => !(mayMigrate && id === 'missing'));
  if (fault) throw new MigrationError(textOf(fault));
}
