import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Sequence } from '../format/manifest.ts';

/** SQL of a backup. It reads the catalogue of PostgreSQL and no table by name, so it needs no list of the tables of the shop. */

export type TableName = { readonly schema: string; readonly name: string };
/** `is_partitioned`: its rows are in its partitions, which are not tables of their own here. */
export type TableFacts = TableName & {
  readonly columns: readonly string[];
  readonly is_partitioned: boolean;
};

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const fullName = ({ schema, name }: TableName): string => `${quoted(schema)}.${quoted(name)}`;
const columnList = (columns: readonly string[]): string => columns.map(quoted).join(', ');

/** Sets the form of the values for the rest of the transaction. */
export async function setTextForms(tx: Transaction): Promise<void> {
  await tx`
    select set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'postgres', true),
           set_config('extra_float_digits', '3', true), set_config('bytea_output', 'hex', true),
           set_config('timezone', 'UTC', true),
           -- Names of tables in columns are written with their schemas.
           set_config('search_path', 'pg_catalog', true),
           -- A policy fails the backup and does not leave out rows.
           set_config('row_security', 'off', true),
           set_config('statement_timeout', '0', true), set_config('lock_timeout', '30s', true),
           set_config('idle_in_transaction_session_timeout', '0', true)`;
}

/** Takes the lock of backups for this transaction. False when another backup of the database has it. */
export async function tryBackupLock(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ is_locked: boolean }[]>`
    select pg_try_advisory_xact_lock(7205883131) as is_locked`;
  return row!.is_locked;
}

/** Makes the snapshot of this transaction usable for others. */
export async function exportSnapshot(tx: Transaction): Promise<{ snapshot: string; at: Date; version: string }> {
  const [row] = await tx<{ snapshot: string; at: Date; version: string }[]>`
    select pg_export_snapshot() as snapshot, clock_timestamp() as at, current_setting('server_version') as version`;
  return row!;
}

/** The tables of these schemas, without those of extensions and without partitions. The largest first. */
export async function selectTables(
  sql: Queryable,
  schemas: readonly string[],
  without: readonly string[],
): Promise<TableFacts[]> {
  return sql<TableFacts[]>`
    select n.nspname as schema, c.relname as name, c.relkind = 'p' as is_partitioned,
           -- An estimate, which needs no lock on the table.
           c.relpages as pages,
           array(select a.attname::text from pg_attribute a
                 where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                 order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas as string[]}) and c.relkind in ('r', 'p') and not c.relispartition
      and c.relpersistence <> 't' and n.nspname || '.' || c.relname <> all(${without as string[]})
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by pages desc, 1, 2`;
}

/** Keeps migrations from changing these tables while they are read. Reads and writes of the shop go on. */
export async function lockTables(tx: Transaction, tables: readonly TableName[]): Promise<void> {
  if (tables.length > 0) await tx.unsafe(`lock table ${tables.map(fullName).join(', ')} in access share mode`);
}

/** The statement that writes the rows of a table as text. */
export const copyOutText = (table: TableFacts): string =>
  table.is_partitioned
    ? `copy (select ${columnList(table.columns)} from ${fullName(table)}) to stdout`
    : `copy ${fullName(table)} (${columnList(table.columns)}) to stdout`;
/** The statement that reads them. */
export const copyInText = (table: TableName & { readonly columns: readonly string[] }): string =>
  `copy ${fullName(table)} (${columnList(table.columns)}) from stdin`;

async function selectSequenceNames(sql: Queryable, schemas: readonly string[]): Promise<TableName[]> {
  return sql<TableName[]>`
    select n.nspname as schema, c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas as string[]}) and c.relkind = 'S'
    order by 1, 2`;
}

/**
 * The positions of the sequences. A sequence belongs to no snapshot: its position is at least that of the rows of the snapshot
 * when it is read after the snapshot was made.
 */
export async function selectSequences(tx: Transaction, schemas: readonly string[]): Promise<Sequence[]> {
  const names = await selectSequenceNames(tx, schemas);
  if (names.length === 0) return [];
  const positions = await tx.unsafe<{ index: number; last_value: string; is_called: boolean }[]>(
    names
      .map((name, index) => `select ${index} as index, last_value::text, is_called from ${fullName(name)}`)
      .join(' union all '),
  );
  return positions.map(({ index, last_value, is_called }) => ({ ...names[index]!, last_value, is_called }));
}

/** Sets the positions of sequences. Throws for one that does not exist. */
export async function setSequences(tx: Transaction, sequences: readonly Sequence[]): Promise<void> {
  await tx`
    select setval(format('%I.%I', s.schema, s.name)::regclass, s.last_value::bigint, s.is_called)
    from jsonb_to_recordset(${tx.json(sequences as never)})
      as s (schema text, name text, last_value text, is_called boolean)`;
}

/** The number of rows of a table, counted. */
export async function countTable(sql: Queryable, table: TableName): Promise<number> {
  const [row] = await sql.unsafe<{ n: number }[]>(`select count(*) as n from ${fullName(table)}`);
  return row!.n;
}
