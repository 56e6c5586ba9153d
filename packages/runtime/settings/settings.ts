import type { Sql } from '@tradepost/postgres';
import type { z } from 'zod';
import { runtimeErrors } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { Events } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { changeSettings, type SettingChanges, selectSettingChanges, updateSetting } from './setting-store.ts';

/** One shop setting. A package owns it. */
export type Setting<T = unknown> = {
  readonly key: string;
  readonly schema: z.ZodType<T>;
  readonly fallback: T;
  readonly about: string;
  readonly secret?: boolean;
  /** The program records this value itself. Neither an operator nor the configuration file sets it. */
  readonly readOnly?: boolean;
};

export const setting = <T>(
  key: string,
  schema: z.ZodType<T>,
  fallback: NoInfer<T>,
  about: string,
  options: { secret?: boolean; readOnly?: boolean } = {},
): Setting<T> => ({ key, schema, fallback, about, ...options });

export type SettingRow = {
  key: string;
  value: unknown;
  source: 'default' | 'table' | 'file';
  about: string;
  secret: boolean;
};

/** The account of the change for the change log: `admin:3`, `cli`. Default: `system`. */
type By = { by?: string };

export type Settings = {
  /** The effective value on this instance. It needs no query. */
  get<T>(of: Setting<T>): T;
  /**
   * Validates and stores a value, and notifies the other instances. Refuses unknown and read-only keys, invalid values,
   * and keys that the file sets.
   */
  set(key: string, value: unknown, options?: By): Promise<void>;
  /** Sets several keys and unsets others in one transaction. When one of them is refused, nothing changes. */
  setMany(values: Readonly<Record<string, unknown>>, options?: By & { unset?: readonly string[] }): Promise<void>;
  /**
   * Replaces a value by the result of `change`, and returns it. `change` is synchronous. It gets the stored value, or
   * the default when no value is stored. Changes of all instances run one after the other, so every change is kept.
   * Refuses what `set` refuses, and a key whose stored value is invalid.
   */
  update<T>(of: Setting<T>, change: (before: T) => T, options?: By): Promise<T>;
  /** Resets a key to its default. */
  unset(key: string, options?: By): Promise<void>;
  /** Reads the table again and notifies the other instances. For writes that did not use these functions. */
  reload(): Promise<void>;
  list(): SettingRow[];
  /** The change log of these keys or of all keys, the newest change first. Secrets are `***`. */
  changes(of: { keys?: readonly string[]; limit: number; offset?: number }): Promise<SettingChanges>;
  close(): Promise<void>;
};

const channel = 'settings';
const pollMs = 30_000;

/** The settings of this process: definitions, values of the file, and values of the table. */
class SettingValues {
  readonly #definitions: ReadonlyMap<string, Setting>;
  readonly #fixed: ReadonlyMap<string, unknown>;
  #stored: ReadonlyMap<string, unknown> = new Map();

  /** Throws when a key is defined twice, and when a value of the file is invalid. */
  constructor(definitions: readonly Setting[], fixed: Readonly<Record<string, unknown>>) {
    this.#definitions = new Map(definitions.map((definition) => [definition.key, definition]));
    if (this.#definitions.size !== definitions.length) throw new Error('two packages define the same setting');
    for (const key of Object.keys(fixed)) this.#refuseReadOnly(key);
    this.#fixed = new Map(Object.entries(fixed).map(([key, value]) => [key, this.check(key, value)]));
  }

  get<T>(of: Setting<T>): T {
    if (!this.#definitions.has(of.key)) throw new Error(`setting ${of.key} is not registered`);
    if (this.#fixed.has(of.key)) return this.#fixed.get(of.key) as T;
    return this.#stored.has(of.key) ? (this.#stored.get(of.key) as T) : of.fallback;
  }

  /** Returns the value as parsed by its schema. Refuses an invalid value. */
  check(key: string, value: unknown): unknown {
    const definition = this.#definitions.get(key);
    if (!definition) throw runtimeErrors.unknown_setting({ key });
    const parsed = definition.schema.safeParse(value);
    if (!parsed.success)
      throw runtimeErrors.invalid_setting({ key, reason: parsed.error.issues.map((i) => i.message).join('; ') });
    return parsed.data;
  }

  refuseUnknown(key: string): void {
    if (!this.#definitions.has(key)) throw runtimeErrors.unknown_setting({ key });
  }

  /** Refuses a key that an operator cannot set, or that the file sets. */
  refuseFixed(key: string): void {
    this.#refuseReadOnly(key);
    if (this.#fixed.has(key)) throw runtimeErrors.fixed_setting({ key });
  }

  secretsOf(keys: readonly string[]): string[] {
    return keys.filter((key) => this.#definitions.get(key)?.secret);
  }

  /** Replaces the values of the table. Unknown keys and invalid values are ignored. */
  store(rows: readonly { key: string; value: unknown }[], log: Log): void {
    const stored = new Map<string, unknown>();
    for (const row of rows) {
      if (!this.#definitions.has(row.key)) continue;
      try {
        stored.set(row.key, this.check(row.key, row.value));
      } catch (error) {
        log.warn({ key: row.key, err: error }, 'a stored setting is not valid; its default is used');
      }
    }
    this.#stored = stored;
  }

  list(): SettingRow[] {
    return [...this.#definitions.values()]
      .map((d): SettingRow => {
        const source = this.#fixed.has(d.key) ? 'file' : this.#stored.has(d.key) ? 'table' : 'default';
        const value =
          source === 'file' ? this.#fixed.get(d.key) : source === 'table' ? this.#stored.get(d.key) : d.fallback;
        return { key: d.key, value, source, about: d.about, secret: d.secret === true };
      })
      .sort((a, b) => a.key.localeCompare(b.key));
  }

  #refuseReadOnly(key: string): void {
    if (this.#definitions.get(key)?.readOnly) throw runtimeErrors.read_only_setting({ key });
  }
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
  definitions: readonly Setting[];
  fixed: Readonly<Record<string, unknown>>;
}): Promise<Settings> {
  const { sql, events, log } = deps;
  const values = new SettingValues(deps.definitions, deps.fixed);

  const reload = async () => {
    values.store(await sql<{ key: string; value: unknown }[]>`select key, value from runtime.settings`, log);
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

  const setMany: Settings['setMany'] = async (changes, { by = 'system', unset = [] } = {}) => {
    const checked = Object.entries(changes).map(([key, value]) => [key, values.check(key, value)] as const);
    for (const key of unset) values.refuseUnknown(key);
    const keys = [...checked.map(([key]) => key), ...unset];
    for (const key of keys) values.refuseFixed(key);
    if (keys.length === 0) return;
    await changeSettings(sql, { values: Object.fromEntries(checked), unset }, { secrets: values.secretsOf(keys), by });
    await announce();
  };

  const update: Settings['update'] = async (of, change, { by = 'system' } = {}) => {
    const { key, fallback } = of;
    values.refuseFixed(key);
    let after = fallback;
    const changed = (stored: { value: unknown } | null) => {
      const before = stored ? of.schema.safeParse(stored.value) : null;
      if (before && !before.success) throw runtimeErrors.invalid_stored_setting({ key });
      after = values.check(key, change(before ? before.data : fallback)) as typeof fallback;
      return after;
    };
    await updateSetting(sql, key, changed, { secrets: values.secretsOf([key]), by });
    await announce();
    return after;
  };

  return {
    get: (of) => values.get(of),
    set: (key, value, options) => setMany({ [key]: value }, options),
    setMany,
    update,
    unset: (key, options) => setMany({}, { ...options, unset: [key] }),
    reload: announce,
    list: () => values.list(),
    changes: (of) => selectSettingChanges(sql, of),
    async close() {
      clearInterval(timer);
      await unsubscribe();
    },
  };
}
