import type { Sql, Transaction } from '@tradepost/postgres';

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

/** What is to be stored under which key, and the keys that go back to their defaults. No key stands twice. */
export type SettingWrites = { values: Readonly<Record<string, unknown>>; unset: readonly string[] };
/** Who changes it, and which keys are secret. */
type Trail = { secrets: readonly string[]; by: string };

/** Nobody else changes settings until the transaction ends: a key without a row has none to lock. */
const lockSettings = (tx: Transaction) => tx`lock table runtime.settings in share row exclusive mode`;

/** Stores, unsets and writes the trail of what differs. The lock is held. */
const writeSettings = (tx: Transaction, { values, unset }: SettingWrites, { secrets, by }: Trail) => tx`
  with wanted as (
    select key, value from jsonb_each(${tx.json(values as never)})
    union all select key, null from unnest(${[...unset]}::text[]) as u (key)
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
         case when after is not null and hidden then '"***"' else after end, ${by}
  from changed cross join lateral (select key = any(${[...secrets]}::text[]) as hidden) as secret
  order by key`;

/** Values are checked by the caller. */
export async function changeSettings(sql: Sql, writes: SettingWrites, trail: Trail): Promise<void> {
  await sql.begin(async (tx) => {
    // By itself, so that the next statement sees what the change before has stored.
    await lockSettings(tx);
    await writeSettings(tx, writes, trail);
  });
}

/** Replaces one value by what `change` makes of the stored one; it gets null where nothing is stored. */
export async function updateSetting(
  sql: Sql,
  key: string,
  change: (stored: { value: unknown } | null) => unknown,
  trail: Trail,
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockSettings(tx);
    const [row] = await tx<{ value: unknown }[]>`select value from runtime.settings where key = ${key}`;
    await writeSettings(tx, { values: { [key]: change(row ?? null) }, unset: [] }, trail);
  });
}

/** Records that the demo seed fills this database, in the seed's own transaction. */
export async function markDemoShop(tx: Transaction): Promise<void> {
  await tx`
    insert into runtime.settings (key, value) values ('shop.demo', 'true')
    on conflict (key) do update set value = excluded.value, updated_at = now()`;
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

/** Every row of the settings table, known to this version or not. */
export async function selectStoredSettings(sql: Sql): Promise<{ key: string; value: unknown }[]> {
  return sql<{ key: string; value: unknown }[]>`select key, value from runtime.settings order by key`;
}
