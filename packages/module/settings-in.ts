import type { Config, OpenedSetting, Setting } from '@tradepost/runtime';

/** The rows of the settings table, decrypted. */
export type StoredSettings = readonly OpenedSetting[];

export type SettingReader = { get<T>(setting: Setting<T>): T };

/**
 * Reads settings as a start of the server would: an invalid value is replaced by the default. The schema of a setting
 * can depend on the modules that run. `definitions` are the settings of these modules.
 */
export function settingsIn(
  config: Pick<Config, 'settings'>,
  rows: StoredSettings,
  definitions: readonly Setting[] = [],
): SettingReader {
  const stored = new Map(rows.filter((row) => !row.unreadable).map(({ key, value }) => [key, value]));
  const registered = new Map(definitions.map((definition) => [definition.key, definition]));
  return {
    get<T>(setting: Setting<T>): T {
      const { key, schema, fallback } = (registered.get(setting.key) as Setting<T> | undefined) ?? setting;
      const given = Object.hasOwn(config.settings, key) ? config.settings[key] : stored.get(key);
      const parsed = given === undefined ? null : schema.safeParse(given);
      return parsed?.success ? parsed.data : fallback;
    },
  };
}
