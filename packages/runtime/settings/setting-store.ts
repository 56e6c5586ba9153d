import { actingSql, type ChangeActor, type Queryable, type Sql, type Transaction } from '@tradepost/postgres';

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

export type StoredSetting = { readonly key: string; readonly value: unknown };

/** The values to store by key, and the keys that are reset to their defaults. A key occurs once. */
export type SettingWrites = { values: Readonly<Record<string, unknown>>; unset: readonly string[] };
/** The account that makes the change, and the keys whose values the log of settings hides. */
type Trail = { secrets: readonly string[]; by: string; actor?: ChangeActor | null | undefined };

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

/**
 * Changes settings. The caller has checked the values. Encrypted values differ each time, so `unchanged` finds the secrets that
 * keep their value.
 */
export async function changeSettings(
  sql: Sql,
  writes: SettingWrites,
  trail: Trail,
  unchanged: (stored: StoredSetting) => boolean,
): Promise<void> {
  await actingSql(sql, trail.actor).begin(async (tx) => {
    // A statement of its own, so that the next statement sees the values of the previous change.
    await lockSettings(tx);
    const hidden = Object.keys(writes.values).filter((key) => trail.secrets.includes(key));
    const stored = hidden.length === 0 ? [] : await selectValues(tx, hidden);
    const kept = new Set(stored.filter(unchanged).map(({ key }) => key));
    const values = Object.fromEntries(Object.entries(writes.values).filter(([key]) => !kept.has(key)));
    await writeSettings(tx, { values, unset: writes.unset }, trail);
  });
}

const selectValues = (tx: Transaction, keys: readonly string[]) =>
  tx<StoredSetting[]>`select key, value from runtime.settings where key = any(${[...keys]}::text[])`;

/** Replaces the stored form of a value. It is no change of the setting, so the change log has no row. */
export async function replaceValue(sql: Sql, key: string, before: unknown, after: unknown): Promise<void> {
  await sql`
    update runtime.settings set value = ${sql.json(after as never)} where key = ${key} and value = ${sql.json(before as never)}`;
}

/** Replaces one value by the result of `change`. It gets the stored value, or null when no value is stored. */
export async function updateSetting(
  sql: Sql,
  key: string,
  change: (stored: StoredSetting | null) => Promise<unknown>,
  trail: Trail,
): Promise<void> {
  await actingSql(sql, trail.actor).begin(async (tx) => {
    await lockSettings(tx);
    const [row] = await selectValues(tx, [key]);
    await writeSettings(tx, { values: { [key]: await change(row ?? null) }, unset: [] }, trail);
  });
}

/** Records that the demo seed fills this database. Called in the transaction of the seed. */
export async function markDemoShop(tx: Transaction): Promise<void> {
  await tx`
    insert into runtime.settings (key, value) values ('shop.demo', 'true')
    on conflict (key) do update set value = excluded.value, updated_at = now()`;
}

/** The history of settings, the newest change first. */
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
export async function selectStoredSettings(sql: Queryable): Promise<StoredSetting[]> {
  return sql<StoredSetting[]>`select key, value from runtime.settings order by key`;
}
