import type { Sql } from '@tradepost/postgres';
import type { z } from 'zod';
import { runtimeErrors } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { Events } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { changeSettings, type SettingChanges, selectSettingChanges, updateSetting } from './setting-store.ts';

/** One shop setting, owned by a package under the spec's key. */
export type Setting<T = unknown> = {
  readonly key: string;
  readonly schema: z.ZodType<T>;
  readonly fallback: T;
  readonly about: string;
  readonly secret?: boolean;
  /** A fact that the program records itself: neither an operator nor the file sets it. */
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

/** Who changes it, for the trail: `admin:3`, `cli`; default: `system`. */
type By = { by?: string };

export type Settings = {
  /** The value in force on this instance; no query. */
  get<T>(of: Setting<T>): T;
  /** Validates, stores and tells the other instances. Refuses unknown and read-only keys, wrong values and keys fixed by the file. */
  set(key: string, value: unknown, options?: By): Promise<void>;
  /** `set` for several keys and `unset` for others in one statement: all of them or none. */
  setMany(values: Readonly<Record<string, unknown>>, options?: By & { unset?: readonly string[] }): Promise<void>;
  /**
   * Replaces a value by what `change` makes of the one stored now; answers the new value. Changes of all instances run one after
   * the other, so none is lost. `change` is synchronous and gets the default where nothing is stored. Refused as `set` is, and
   * where the stored value is not valid.
   */
  update<T>(of: Setting<T>, change: (before: T) => T, options?: By): Promise<T>;
  /** Back to the default. */
  unset(key: string, options?: By): Promise<void>;
  /** Reads the table again and tells the other instances: after a write that did not come through here. */
  reload(): Promise<void>;
  list(): SettingRow[];
  /** What was changed by whom, of these keys or of all, the newest first. Secrets are `***`. */
  changes(of: { keys?: readonly string[]; limit: number; offset?: number }): Promise<SettingChanges>;
  close(): Promise<void>;
};

const channel = 'settings';
const pollMs = 30_000;

/** The settings of this process: definitions, the values of the file and those of the table. */
class SettingValues {
  readonly #definitions: ReadonlyMap<string, Setting>;
  readonly #fixed: ReadonlyMap<string, unknown>;
  #stored: ReadonlyMap<string, unknown> = new Map();

  /** Throws when a key is defined twice, and when a value of the file is not valid. */
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

  /** The value as its schema gives it; refuses one that is not valid. */
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

  /** Replaces the values of the table. Unknown keys and values that are not valid are left out. */
  store(rows: readonly { key: string; value: unknown }[], log: Log): void {
    const stored = new Map<string, unknown>();
    for (const row of rows) {
      if (!this.#definitions.has(row.key)) continue;
      try {
        stored.set(row.key, this.check(row.key, row.value));
      } catch (error) {
        log.warn({ key: row.key, err: error }, 'a stored setting is not valid; its default is in force');
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
 * Shop settings: a table read at start, again when another instance says so, and every 30 s in case the message was
 * lost. The file's values win.
 */
export async function openSettings(deps: {
  sql: Sql;
  /** Tells the other instances. */
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
    // Not waited for: the change is made, and the next poll finds it without the message.
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
