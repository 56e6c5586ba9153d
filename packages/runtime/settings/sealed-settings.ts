import type { Sql } from '@tradepost/postgres';
import type { SealedColumn } from '../secrets/sealed-column.ts';
import { isSealed } from '../secrets/sealed-text.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Setting } from './setting.ts';
import { replaceValue, type StoredSetting, selectStoredSettings } from './setting-store.ts';

/** The name that the value of a setting is sealed with. */
const sealedNameOf = (key: string): string => `runtime.settings:${key}`;

export const settingsColumn: SealedColumn = {
  ...{ table: 'runtime.settings', key: 'key', column: 'value', json: true },
  nameOf: sealedNameOf,
};

/** Encrypts the value of a secret setting. Every form of value is sealed as JSON. */
export const sealSetting = (secrets: Secrets, key: string, value: unknown): Promise<string> =>
  secrets.seal(sealedNameOf(key), JSON.stringify(value));

/** A stored value, decrypted. `unreadable` when that is not possible; `value` is null then. */
export type OpenedSetting = StoredSetting & { readonly unreadable?: boolean };

/** Decrypts the rows of secret settings. A plain row comes from an older version, or was written by SQL. */
export function openStored(
  secrets: Pick<Secrets, 'open'>,
  rows: readonly StoredSetting[],
  isSecret: (key: string) => boolean,
): OpenedSetting[] {
  return rows.map(({ key, value }) => {
    if (!isSealed(value) || !isSecret(key)) return { key, value };
    try {
      return { key, value: JSON.parse(secrets.open(sealedNameOf(key), value)) };
    } catch {
      return { key, value: null, unreadable: true };
    }
  });
}

/**
 * Encrypts the stored secrets that are plain. Safe beside running servers and to repeat: a row that changes meanwhile is left to
 * its writer. Returns the keys.
 */
export async function sealPlainSettings(
  { sql, secrets }: { sql: Sql; secrets: Secrets },
  definitions: readonly Setting[],
): Promise<string[]> {
  const hidden = new Set(definitions.filter(({ secret }) => secret).map(({ key }) => key));
  const plain = (await selectStoredSettings(sql)).filter(({ key, value }) => hidden.has(key) && !isSealed(value));
  for (const { key, value } of plain) await replaceValue(sql, key, value, await sealSetting(secrets, key, value));
  return plain.map(({ key }) => key);
}
