import type { Sql } from '@tradepost/postgres';

/** The ids of the keys that have sealed secrets of this database. */
export async function selectKeyIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from runtime.secret_keys order by created_at, id`;
  return rows.map(({ id }) => id);
}

/** Forgets a key that is lost. When no key is left, the next secret records the first key of the file. */
export async function forgetKey(sql: Sql, id: string): Promise<boolean> {
  return (await sql`delete from runtime.secret_keys where id = ${id}`).count > 0;
}

/** Runs `work` while no other process adds a key: a key that is lost between two writers would lose its secrets. */
export async function withKeyLock<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('runtime.secret_keys', 0))`;
    return work();
  }) as Promise<T>;
}

/**
 * Records the first key, so that it may seal. Not when the database has other keys and none of them is in the file: the file
 * belongs to another shop or machine. Returns whether the key is recorded.
 */
export async function recordKey(sql: Sql, keyIds: readonly string[]): Promise<boolean> {
  return sql.begin(async (tx) => {
    // Two machines that start with different files must not both become the first.
    await tx`lock table runtime.secret_keys in share row exclusive mode`;
    await tx`
      insert into runtime.secret_keys (id)
      select ${keyIds[0]!}
      where not exists (select from runtime.secret_keys)
         or exists (select from runtime.secret_keys where id = any(${[...keyIds]}::text[]))
      on conflict (id) do nothing`;
    const [row] = await tx`select from runtime.secret_keys where id = ${keyIds[0]!}`;
    return row !== undefined;
  });
}
