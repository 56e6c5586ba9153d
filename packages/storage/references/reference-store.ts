import type { Queryable } from '@tradepost/postgres';

/** Records the packages that run. Returns the recorded ones that do not run. */
export async function recordReferences(sql: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    with added as (
      insert into storage.reference_names (name) select unnest(${names as string[]}::text[])
      on conflict (name) do nothing)
    select name from storage.reference_names where name <> all(${names as string[]}::text[]) order by name`;
  return rows.map(({ name }) => name);
}

/** Forgets packages whose tables no longer exist. Returns those that were recorded. */
export async function forgetReferences(sql: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    delete from storage.reference_names where name = any(${names as string[]}::text[]) returning name`;
  return rows.map(({ name }) => name);
}
