import type { TestDatabase } from '../servers/database.ts';

/** Tables that a refused request may change: its idempotency claim is stored. */
const ignoredTables = ['runtime.idempotency_keys'];

/** Opens a reader of all tables of the shop. `rows` reads the number of rows per table, `contents` also a checksum of the rows. */
export async function openTables({ sql }: TestDatabase) {
  const tables = await sql<{ name: string }[]>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema', 'graphile_worker')
    order by 1`;
  const names = tables.map((table) => table.name).filter((name) => !ignoredTables.includes(name));
  const query = (checksumOf: (row: string) => string) =>
    [
      ...names.map((name) => `select '${name}', count(*)::text || ${checksumOf('hashtext(t::text)')} from ${name} t`),
      `select 'jobs', count(*)::text || ${checksumOf('id')} from graphile_worker._private_jobs`,
    ].join(' union all ');
  const rows = query(() => `''`);
  const contents = query((row) => `' ' || coalesce(sum(${row}), 0)`);
  // As a prepared statement the union of all tables is planned once.
  const read = async (text: string) =>
    new Map((await sql.unsafe(text, [], { prepare: true }).values()) as unknown as [string, string][]);
  return { rows: () => read(rows), contents: () => read(contents) };
}

/** The names of the tables that differ. */
export const changedTables = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...after].filter(([name, value]) => before.get(name) !== value).map(([name]) => name);

/**
 * Opens a reader of the rows that belong to a shopper, by table: rows with the id of the shopper or of one of the shopper's
 * orders. The tables are found in the catalogue of the database, so new tables are included.
 */
export async function openOwnedRows({ sql }: TestDatabase): Promise<(userId: number) => Promise<Map<string, string>>> {
  const columns = await sql<{ name: string; column: string }[]>`
    select table_schema || '.' || table_name as name, column_name as column
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_type = 'BASE TABLE' and column_name in ('user_id', 'order_id')
      and table_schema not in ('pg_catalog', 'information_schema', 'graphile_worker')
    order by 1`;
  const ownerColumns = new Map(columns.map(({ name, column }) => [name, column]));
  // A table with both columns is searched by user_id.
  for (const { name, column } of columns) if (column === 'user_id') ownerColumns.set(name, column);
  const parts = [...ownerColumns].map(([name, column]) => {
    const condition = column === 'user_id' ? '= $1' : 'in (select id from orders.orders where user_id = $1)';
    return `select '${name}' as name, string_agg(t::text, ' ' order by t::text) as content from ${name} t where ${column} ${condition}`;
  });
  const text = [
    ...parts,
    `select 'identity.shoppers', string_agg(t::text, ' ') from identity.shoppers t where id = $1`,
    `select 'inventory.inventory_reservation', string_agg(t::text, ' ' order by t::text)
     from inventory.inventory_reservation t where biz_no in (select order_no from orders.orders where user_id = $1)`,
  ].join(' union all ');
  return async (userId) => {
    const rows = await sql.unsafe<{ name: string; content: string | null }[]>(text, [userId]);
    return new Map(rows.map((row) => [row.name, row.content ?? '']));
  };
}
