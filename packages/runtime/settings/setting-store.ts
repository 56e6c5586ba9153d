import type { Queryable, Sql, Transaction } from '@tradepost/postgres';

export type SettingChange = {
  id: number;
  key: string;
  /** Null: the default was effective, or is effective again. `***` for secrets. */
  before: unknown;
  after: unknown;
  changed_by: string;
  changed_at: Date;
};
export type SettingChanges = { rows: SettingChange[]; total: number };

/** The values to store by key, and the keys that are reset to their defaults. A key occurs once. */
export type SettingWrites = { values: Readonly<Record<string, unknown>>; unset: readonly string[] };
/** The account that makes the change, and the secret keys. */
type Trail = { secrets: readonly string[]; by: string };

/**
 * No other transaction changes settings until this one ends. The table is locked, because a key at its default has no
 * row to lock.
 */
const lockSettings = (tx: Transaction) => tx`lock table runtime.settings in share row exclusive mode`;

/** Stores and resets values, and logs the changed ones. The caller has locked the table. */
const writeSettings = (tx: Transaction, { values, unset }: SettingWrites, { secrets, by }: Trail) => tx`
  with requested as (
    select key, value from jsonb_each(${tx.json(values as never)})
    union all select key, null from unnest(${[...unset]}::text[]) as u (key)
  ), changed as (
    select key, s.value as before, w.value as after
    from requested w left join runtime.settings s using (key)
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

/** Changes settings. The caller has checked the values. */
export async function changeSettings(sql: Sql, writes: SettingWrites, trail: Trail): Promise<void> {
  await sql.begin(async (tx) => {
    // A statement of its own, so that the next statement sees the values of the previous change.
    await lockSettings(tx);
    await writeSettings(tx, writes, trail);
  });
}

/** Replaces one value by the result of `change`. It gets the stored value, or null when no value is stored. */
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

/** Records that the demo seed fills this database. Called in the transaction of the seed. */
export async function markDemoShop(tx: Transaction): Promise<void> {
  await tx`
    insert into runtime.settings (key, value) values ('shop.demo', 'true')
    on conflict (key) do update set value = excluded.value, updated_at = now()`;
}

/** The change log, the newest change first. */
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

/** All rows of the settings table, also of keys that this version does not know. */
export async function selectStoredSettings(sql: Queryable): Promise<{ key: string; value: unknown }[]> {
  return sql<{ key: string; value: unknown }[]>`select key, value from runtime.settings order by key`;
}
