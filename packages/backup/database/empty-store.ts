import type { Queryable, Transaction } from '@tradepost/postgres';
import { fullName, quoted, type TableName } from './table-store.ts';

const shownObjects = 3;

/** Tables, views and sequences of a database that are not of PostgreSQL or its extensions, and the schemas of the shop. */
export async function selectContent(sql: Queryable, schemas: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select n.nspname || '.' || c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and n.nspname not in ('pg_catalog', 'information_schema')
      and n.nspname !~ '^pg_(toast|temp)'
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    union all
    select n.nspname from pg_namespace n where n.nspname = any(${schemas as string[]})
    order by 1 limit ${shownObjects}`;
  return rows.map(({ name }) => name);
}

export async function selectEncoding(sql: Queryable): Promise<string> {
  const [row] = await sql<{ encoding: string }[]>`
    select pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()`;
  return row!.encoding;
}

/** Takes the lock of restores for this transaction. False when another restore into the database has it. */
export async function tryRestoreLock(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ is_locked: boolean }[]>`
    select set_config('idle_in_transaction_session_timeout', '0', true),
           pg_try_advisory_xact_lock(7205883132) as is_locked`;
  return row!.is_locked;
}

/** Removes the schemas of the shop with all they have: what an interrupted restore has left. */
export async function dropSchemas(tx: Transaction, schemas: readonly string[]): Promise<void> {
  for (const schema of schemas) await tx.unsafe(`drop schema if exists ${quoted(schema)} cascade`);
}

/** Empties tables of the rows that migrations have written. */
export async function truncateTables(tx: Transaction, tables: readonly TableName[]): Promise<void> {
  if (tables.length > 0) await tx.unsafe(`truncate table ${tables.map(fullName).join(', ')}`);
}

/** Gathers the statistics of a table, for the plans of its queries. */
export async function analyzeTables(sql: Queryable, tables: readonly TableName[]): Promise<void> {
  if (tables.length > 0) await sql.unsafe(`analyze ${tables.map(fullName).join(', ')}`);
}
