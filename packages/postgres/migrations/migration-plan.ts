import type { Queryable } from '../client.ts';
import { readMigrations } from './migration-files.ts';
import { type MigrationStep, readMigrationStep } from './migration-steps.ts';
import { estimateRows, selectMigrations } from './migration-store.ts';

/**
 * How long a migration takes, by the rows of existing tables that it reads or writes: `small` up to 100,000, `medium` up to
 * 10,000,000, `large` above.
 */
type MigrationSize = 'small' | 'medium' | 'large';

export type PlannedMigration = {
  readonly id: number;
  readonly name: string;
  readonly step: MigrationStep['kind'];
  /** The release that stopped using what a contract step removes. */
  readonly stopped_in: string | null;
  readonly size: MigrationSize;
  /** The rows of existing tables that it reads or writes, as PostgreSQL estimates them. */
  readonly rows: number;
  readonly tables: readonly string[];
  /** The tables, views and functions that it creates or changes. */
  readonly objects: readonly string[];
};

const mediumRows = 100_000;
const largeRows = 10_000_000;
const sizeOf = (rows: number): MigrationSize => (rows <= mediumRows ? 'small' : rows <= largeRows ? 'medium' : 'large');

/** The migrations that a database lacks, in order. `sql` null: there is no database yet. Changes nothing. */
export async function planMigrations(sql: Queryable | null, directory?: string): Promise<PlannedMigration[]> {
  const migrations = await readMigrations(directory);
  const done = sql ? await selectMigrations(sql) : [];
  const created = new Set<string>();
  const steps = migrations
    .slice(done.length)
    .map(({ id, name, text }) => ({ id, name, ...readMigrationStep(text, created) }));
  const scanned = [...new Set(steps.flatMap(({ scans }) => scans))];
  const rowsOf = sql ? await estimateRows(sql, scanned) : new Map<string, number>();
  return steps.map(({ id, name, kind, stoppedIn, scans, objects }) => {
    const rows = scans.reduce((sum, table) => sum + (rowsOf.get(table) ?? 0), 0);
    return { id, name, step: kind, stopped_in: stoppedIn, size: sizeOf(rows), rows, tables: scans, objects };
  });
}
