import type { TestDatabase } from '../servers/database.ts';

/** What a refused request may leave: its key with the refusal. */
const kept = ['runtime.idempotency_keys'];

/** A reader of what the tables of the shop hold: `rows` by their number, `contents` by a sum over every row's text. */
export async function openTraces({ sql }: TestDatabase) {
  const tables = await sql<{ name: string }[]>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema', 'graphile_worker')
    order by 1`;
  const names = tables.map((table) => table.name).filter((name) => !kept.includes(name));
  const jobs = `select 'jobs', count(*)::text, coalesce(sum(id), 0)::text from graphile_worker._private_jobs`;
  const text = [
    ...names.map(
      (name) => `select '${name}', count(*)::text, coalesce(sum(hashtext(t::text)), 0)::text from ${name} t`,
    ),
    jobs,
  ].join(' union all ');
  const read = async (column: 1 | 2): Promise<Map<string, string>> => {
    const rows = (await sql.unsafe(text).values()) as unknown as string[][];
    return new Map(rows.map((row) => [row[0]!, `${row[1]}${column === 2 ? ` ${row[2]}` : ''}`]));
  };
  return { rows: () => read(1), contents: () => read(2) };
}

/** Names of what differs. */
export const changed = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...after].filter(([name, value]) => before.get(name) !== value).map(([name]) => name);

/**
 * What belongs to a shopper, by table: the rows that name them or one of their orders. Read from the catalogue of the
 * database, so a new table is in it.
 */
export async function openBelongings({ sql }: TestDatabase): Promise<(userId: number) => Promise<Map<string, string>>> {
  const columns = await sql<{ name: string; column: string }[]>`
    select table_schema || '.' || table_name as name, column_name as column
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_type = 'BASE TABLE' and column_name in ('user_id', 'order_id')
      and table_schema not in ('pg_catalog', 'information_schema', 'graphile_worker')
    order by 1`;
  const theirs = new Map(columns.map(({ name, column }) => [name, column]));
  // Whoever is named beats what is named.
  for (const { name, column } of columns) if (column === 'user_id') theirs.set(name, column);
  const parts = [...theirs].map(([name, column]) => {
    const whose = column === 'user_id' ? '= $1' : 'in (select id from orders.orders where user_id = $1)';
    return `select '${name}' as name, string_agg(t::text, ' ' order by t::text) as held from ${name} t where ${column} ${whose}`;
  });
  const text = [
    ...parts,
    `select 'identity.shoppers', string_agg(t::text, ' ') from identity.shoppers t where id = $1`,
    `select 'inventory.inventory_reservation', string_agg(t::text, ' ' order by t::text)
     from inventory.inventory_reservation t where biz_no in (select order_no from orders.orders where user_id = $1)`,
  ].join(' union all ');
  return async (userId) => {
    const rows = await sql.unsafe<{ name: string; held: string | null }[]>(text, [userId]);
    return new Map(rows.map((row) => [row.name, row.held ?? '']));
  };
}
