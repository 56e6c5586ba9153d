import type { Sql } from './database.ts';

export type SettingChange = {
  id: number;
  key: string;
  /** null: the default was in force, or is again. Of secrets `***`. */
  before: unknown;
  after: unknown;
  changed_by: string;
  changed_at: Date;
};
export type SettingChanges = { rows: SettingChange[]; total: number };

/** Stores, unsets and writes the trail of what differs. Values are checked by the caller; no key stands twice. */
export async function changeSettings(
  sql: Sql,
  of: {
    values: Readonly<Record<string, unknown>>;
    unset: readonly string[];
    secrets: readonly string[];
    by: string;
  },
): Promise<void> {
  await sql.begin(async (tx) => {
    // A key without a row has none to lock. By itself, so that the next statement sees what the one before has stored.
    await tx`lock table runtime.settings in share row exclusive mode`;
    await tx`
      with wanted as (
        select key, value from jsonb_each(${tx.json(of.values as never)})
        union all select key, null from unnest(${[...of.unset]}::text[]) as u (key)
      ), changed as (
        select key, s.value as before, w.value as after
        from wanted w left join runtime.settings s using (key)
        where s.value is distinct from w.value
      ), stored as (
        insert into runtime.settings (key, value, updated_at)
        select key, after, now() from changed where after is not null
        on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at
      ), removed as (
        delete from runtime.settings where key in (select key from changed where after is null)
      )
      insert into runtime.setting_changes (key, before, after, changed_by)
      select key, case when before is not null and hidden then '"***"' else before end,
             case when after is not null and hidden then '"***"' else after end, ${of.by}
      from changed cross join lateral (select key = any(${[...of.secrets]}::text[]) as hidden) as secret
      order by key`;
  });
}

/** The newest first. */
export async function selectSettingChanges(
  sql: Sql,
  { keys, limit, offset = 0 }: { keys?: readonly string[]; limit: number; offset?: number },
): Promise<SettingChanges> {
  const where = keys ? sql`key = any(${[...keys]}::text[])` : sql`true`;
  const rows = await sql<(SettingChange & { total: number })[]>`
    with page as (
      select id, key, before, after, changed_by, changed_at from runtime.setting_changes where ${where}
      order by id desc limit ${limit} offset ${offset}
    ), counted as (select count(*)::int as total from runtime.setting_changes where ${where})
    select page.*, counted.total from counted left join page on true order by page.id desc`;
  return {
    rows: rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row])),
    total: rows[0]?.total ?? 0,
  };
}
