import type { Config, Setting } from '@tradepost/runtime';

/** Rows of the table of settings. */
export type StoredSettings = readonly { readonly key: string; readonly value: unknown }[];

/** Settings as a start would find them; what is not valid is its default, as there. */
export function settingsIn(config: Pick<Config, 'settings'>, rows: StoredSettings) {
  const stored = new Map(rows.map(({ key, value }) => [key, value]));
  return {
    get<T>({ key, schema, fallback }: Setting<T>): T {
      const given = Object.hasOwn(config.settings, key) ? config.settings[key] : stored.get(key);
      const parsed = given === undefined ? null : schema.safeParse(given);
      return parsed?.success ? parsed.data : fallback;
    },
  };
}
