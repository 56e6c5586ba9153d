import type { Sql } from '@tradepost/postgres';

const abandonedSeconds = 60;

/** Temporary databases that no process uses, and that are older than the time a process takes to connect to its own. */
export async function selectAbandoned(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select d.datname as name from pg_database d
    where d.datname ~ '^tradepost_verify_[0-9]{1,12}_[0-9a-f]{8}$'
      and split_part(d.datname, '_', 3)::bigint < extract(epoch from now()) - ${abandonedSeconds}::int
      and not exists (select from pg_stat_activity a where a.datname = d.datname)`;
  return rows.map(({ name }) => name);
}

/** `name` consists of letters, digits and `_`. */
export async function createTemporary(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`create database ${name} template template0 encoding 'UTF8'`);
}

export async function dropTemporary(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`drop database if exists ${name} with (force)`);
}
