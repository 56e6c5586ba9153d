import type { Config, Setting } from '@tradepost/runtime';

/** Rows of the table of settings. */
export type StoredSettings = readonly { readonly key: string; readonly value: unknown }[];

export type SettingReader = { get<T>(setting: Setting<T>): T };

/**
 * Settings as a start would read them; a value that is not valid is the default, as there. The values of some settings
 * depend on the modules that run: `definitions` has those that are registered.
 */
export function settingsIn(
  config: Pick<Config, 'settings'>,
  rows: StoredSettings,
  definitions: readonly Setting[] = [],
): SettingReader {
  const stored = new Map(rows.map(({ key, value }) => [key, value]));
  const registered = new Map(definitions.map((definition) => [definition.key, definition]));
  return {
    get<T>(asked: Setting<T>): T {
      const { key, schema, fallback } = (registered.get(asked.key) as Setting<T> | undefined) ?? asked;
      const given = Object.hasOwn(config.settings, key) ? config.settings[key] : stored.get(key);
      const parsed = given === undefined ? null : schema.safeParse(given);
      return parsed?.success ? parsed.data : fallback;
    },
  };
}
