import { isDeepStrictEqual } from 'node:util';
import type { ChangeActor, Sql } from '@tradepost/postgres';
import { runtimeErrors } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Events } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { type OpenedSetting, openStored, sealSetting } from './sealed-settings.ts';
import type { Setting, SettingRow } from './setting.ts';
import {
  changeSettings,
  type SettingChanges,
  type StoredSetting,
  selectSettingChanges,
  selectStoredSettings,
  updateSetting,
} from './setting-store.ts';
import { SettingValues } from './setting-values.ts';

/**
 * `by`: the account of the change for the history of settings: `admin:3`, `cli`. Default: `system`. `actor`: the actor of the
 * change log, from the route context.
 */
export type SettingAuthor = { by?: string; actor?: ChangeActor | null };

export type Settings = {
  /** The effective value on this instance. It needs no query. */
  get<T>(of: Setting<T>): T;
  /**
   * Validates and stores a value, and notifies the other instances. Refuses unknown and read-only keys, invalid values,
   * and keys that the file sets. Secrets are encrypted; the mask of a secret changes nothing.
   */
  set(key: string, value: unknown, options?: SettingAuthor): Promise<void>;
  /** Sets several keys and unsets others in one transaction. When one of them is refused, nothing changes. */
  setMany(
    values: Readonly<Record<string, unknown>>,
    options?: SettingAuthor & { unset?: readonly string[] },
  ): Promise<void>;
  /**
   * Replaces a value by the result of `change`, and returns it. `change` is synchronous. It gets the stored value, or
   * the default when no value is stored. Changes of all instances run one after the other, so every change is kept.
   * Refuses what `set` refuses, and a key whose stored value is invalid.
   */
  update<T>(of: Setting<T>, change: (before: T) => T, options?: SettingAuthor): Promise<T>;
  /** Resets a key to its default. */
  unset(key: string, options?: SettingAuthor): Promise<void>;
  /** Reads the table again and notifies the other instances. For writes that did not use these functions. */
  reload(): Promise<void>;
  list(): SettingRow[];
  /** The settings of the modules that run, in the order in which their packages list them. */
  definitions(): readonly Setting[];
  /** The history of these keys or of all keys, the newest change first. Secrets are `***`. */
  changes(of: { keys?: readonly string[]; limit: number; offset?: number }): Promise<SettingChanges>;
  close(): Promise<void>;
};

const channel = 'settings';
const pollMs = 30_000;

/** The writes of `openSettings`. */
function openWrites(deps: {
  sql: Sql;
  secrets: Secrets;
  values: SettingValues;
  opened: (rows: readonly StoredSetting[]) => OpenedSetting[];
  announce: () => Promise<void>;
}): Pick<Settings, 'setMany' | 'update'> {
  const { sql, secrets, values, opened, announce } = deps;
  const sealed = async (key: string, value: unknown) =>
    values.isSecret(key) ? await sealSetting(secrets, key, value) : value;
  const trailOf = (keys: readonly string[], { by = 'system', actor }: SettingAuthor) => ({
    secrets: keys.filter((key) => values.isSecret(key)),
    by,
    actor,
  });

  const setMany: Settings['setMany'] = async (changes, { unset = [], ...author } = {}) => {
    const given = Object.entries(changes).filter(([key, value]) => !values.isMask(key, value));
    const checked = new Map(given.map(([key, value]) => [key, values.checkNew(key, value)]));
    for (const key of unset) values.refuseUnknown(key);
    const keys = [...checked.keys(), ...unset];
    for (const key of keys) values.refuseFixed(key);
    if (keys.length === 0) return;
    // Before the transaction: the first secret of a shop creates the key file.
    const stored = Object.fromEntries(
      await Promise.all([...checked].map(async ([key, value]) => [key, await sealed(key, value)] as const)),
    );
    await changeSettings(sql, { values: stored, unset }, trailOf(keys, author), (row) => {
      const [before] = opened([row]);
      // A plain value is written again, encrypted.
      return (
        row.value !== before!.value && !before!.unreadable && isDeepStrictEqual(before!.value, checked.get(row.key))
      );
    });
    await announce();
  };
  const update: Settings['update'] = async (of, change, author = {}) => {
    const { key, fallback } = of;
    values.refuseFixed(key);
    let after = fallback;
    const changed = async (stored: StoredSetting | null) => {
      const row = stored ? opened([stored])[0]! : null;
      const before = row ? of.schema.safeParse(row.value) : null;
      if (row?.unreadable || (before && !before.success)) throw runtimeErrors.invalid_stored_setting({ key });
      after = values.checkNew(key, change(before ? (before.data as typeof fallback) : fallback)) as typeof fallback;
      return sealed(key, after);
    };
    // The first secret of a shop needs a second connection, which the transaction must not wait for.
    await sealed(key, fallback);
    await updateSetting(sql, key, changed, trailOf([key], author));
    await announce();
    return after;
  };
  return { setMany, update };
}

/**
 * Opens the shop settings. The table is read at the start, after a notification of another instance, and every 30 s in
 * case a notification was lost. Values of the configuration file override the table.
 */
export async function openSettings(deps: {
  sql: Sql;
  /** Notifies the other instances. */
  events: Pick<Store, 'publish' | 'subscribe'> & Partial<Pick<Events, 'onReconnect'>>;
  log: Log;
  /** Encrypts and decrypts the settings that are secret. */
  secrets: Secrets;
  definitions: readonly Setting[];
  fixed: Readonly<Record<string, unknown>>;
  /** Refuses new values that are for development only. */
  production?: boolean;
}): Promise<Settings> {
  const { sql, events, log, secrets } = deps;
  const values = new SettingValues(deps.definitions, deps.fixed, deps.production);

  const opened = (rows: readonly StoredSetting[]) => openStored(secrets, rows, (key) => values.isSecret(key));
  let [begun, shown] = [0, 0];
  const reload = async () => {
    begun += 1;
    const turn = begun;
    const rows = await selectStoredSettings(sql);
    // Readings on several connections end in any order. An older one must not hide the change that a later one has seen.
    if (turn < shown) return;
    shown = turn;
    values.store(opened(rows), log);
  };
  const reloadQuietly = () => {
    reload().catch((error: unknown) => log.warn({ err: error }, 'settings could not be read again'));
  };
  const unsubscribe = await events.subscribe(channel, reloadQuietly);
  events.onReconnect?.(reloadQuietly);
  // After the subscription, so that no change falls between the two.
  await reload();
  const timer = setInterval(reloadQuietly, pollMs);
  timer.unref();

  const announce = async () => {
    await reload();
    // Not awaited: the change is stored, and the next poll of the other instances finds it without the notification.
    events.publish(channel, 'changed').catch((error: unknown) => {
      log.warn({ err: error }, 'other instances see the changed setting at their next poll');
    });
  };

  const { setMany, update } = openWrites({ sql, secrets, values, opened, announce });
  return {
    get: (of) => values.get(of),
    set: (key, value, options) => setMany({ [key]: value }, options),
    setMany,
    update,
    unset: (key, options) => setMany({}, { ...options, unset: [key] }),
    reload: announce,
    list: () => values.list(),
    definitions: () => deps.definitions,
    changes: (of) => selectSettingChanges(sql, of),
    async close() {
      clearInterval(timer);
      await unsubscribe();
    },
  };
}
