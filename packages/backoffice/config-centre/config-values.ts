import { isDeepStrictEqual } from 'node:util';
import type { Locale } from '@tradepost/core';
import { isStorable, parseField } from '@tradepost/http';
import { type Runtime, type SettingAuthor, type SettingRow, secretMask } from '@tradepost/runtime';
import { backofficeErrors } from '../errors.ts';
import { type ConfigField, type ConfigPlugin, optionsOf, typeOf } from './config-pages.ts';
import { type EntryGuard, staffFault } from './staff-values.ts';

type Shop = Pick<Runtime, 'settings'>;
type EditableShop = Shop & { readonly guard: EntryGuard };

const rowsOf = ({ settings }: Shop): ReadonlyMap<string, SettingRow> =>
  new Map(settings.list().map((row) => [row.key, row]));

/** Every value is a text on the wire. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A secret is masked, whatever its length. An empty one is shown as empty. */
function shown({ setting }: ConfigField, row: SettingRow): string {
  if (!setting.secret) return textOf(row.value);
  return row.value === '' && !row.unreadable ? '' : secretMask;
}

/** The values in force of a plugin. */
export function configValues(shop: Shop, { fields }: ConfigPlugin): Record<string, string> {
  const rows = rowsOf(shop);
  return Object.fromEntries(fields.map((one) => [one.key, shown(one, rows.get(one.setting.key)!)]));
}

/** The forms of all plugins, in the language of the reader. */
export function configSchemas(shop: Shop, plugins: Iterable<ConfigPlugin>, locale: Locale) {
  const rows = rowsOf(shop);
  const inLocale = (of: string | Readonly<Record<Locale, string>>) => (typeof of === 'string' ? of : of[locale]);
  const fieldOf = (one: ConfigField) => {
    const { key, field, setting } = one;
    const row = rows.get(setting.key)!;
    const type = typeOf(one);
    const options = optionsOf(one, textOf(row.value)).map(({ value, label }) => ({ value, label: inLocale(label) }));
    return {
      ...{ key, label: field.label[locale], type },
      ...(field.placeholder === undefined ? {} : { placeholder: field.placeholder }),
      ...(field.required ? { required: true } : {}),
      ...(type === 'select' ? { options } : {}),
      ...(row.source === 'file' ? { fixed: true } : {}),
    };
  };
  return [...plugins].map(({ plugin, title, fields }) => ({
    plugin,
    title: title[locale],
    fields: fields.map(fieldOf),
  }));
}

const truths = new Set(['true', '1', 'on', 'yes']);
const falsehoods = new Set(['false', '0', 'off', 'no']);

/** The value that a text of a form stands for. A text without meaning is passed on, and the schema refuses it. */
function valueIn(one: ConfigField, given: unknown): unknown {
  const { fallback } = one.setting;
  if (typeof fallback === 'string') return typeof given === 'number' ? String(given) : given;
  if (typeof given !== 'string') return given;
  const text = given.trim();
  if (typeof fallback === 'boolean') {
    const word = text.toLowerCase();
    return truths.has(word) ? true : falsehoods.has(word) ? false : given;
  }
  if (typeof fallback === 'number') return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : given;
  try {
    return JSON.parse(text);
  } catch {
    return given;
  }
}

const unstorable = { en: 'must not contain NUL or broken Unicode', 'zh-CN': '不能包含空字符或无效的 Unicode 字符' };

/** Checks the value of a field. Returns it as parsed, or what is wrong with it in the language of the caller. */
async function checked(
  one: ConfigField,
  given: unknown,
  locale: Locale,
  guard: EntryGuard,
): Promise<{ data: unknown } | { fault: string }> {
  const { key, field, setting } = one;
  const parsed = parseField(setting.schema, valueIn(one, given), locale, key);
  if (!('data' in parsed))
    return field.rule && typeof given === 'string' ? { fault: `${key}: ${field.rule[locale]}` } : parsed;
  const fault = isStorable(parsed.data) ? await staffFault(one, parsed.data, guard) : unstorable;
  return fault ? { fault: `${key}: ${fault[locale]}` } : parsed;
}

/** What a form changes: values by setting, and settings that return to their defaults. */
type Changes = { values: Record<string, unknown>; unset: string[] };

async function changesIn(
  shop: EditableShop,
  { fields }: ConfigPlugin,
  form: Readonly<Record<string, unknown>>,
  locale: Locale,
): Promise<Changes> {
  const rows = rowsOf(shop);
  const changes: Changes = { values: {}, unset: [] };
  const faults: string[] = [];
  for (const one of fields) {
    const { key, setting, field } = one;
    const given = Object.hasOwn(form, key) ? form[key] : undefined;
    // A form sends back what it showed. A default that was shown stays a default, and a masked secret stays as it is.
    const row = rows.get(setting.key)!;
    if (given === undefined || given === null || given === shown(one, row)) continue;
    if (setting.secret && given === secretMask) continue;
    const empty = typeof given === 'string' && given.trim() === '' && !field.choices?.includes('');
    const result = empty ? { data: setting.fallback } : await checked(one, given, locale, shop.guard);
    if ('fault' in result) faults.push(result.fault);
    else if (!row.unreadable && isDeepStrictEqual(result.data, row.value)) continue;
    else if (row.source === 'file') throw backofficeErrors.fixed_by_file({ field: key, key: setting.key });
    else if (empty) changes.unset.push(setting.key);
    else changes.values[setting.key] = result.data;
  }
  if (faults.length > 0) throw backofficeErrors.config_value({ reason: faults.join('; ') });
  return changes;
}

/** Stores the values of a form. Keys that it does not have stay unchanged; when one is refused, nothing changes. */
export async function saveConfig(
  shop: EditableShop,
  plugin: ConfigPlugin,
  form: Readonly<Record<string, unknown>>,
  { locale, ...author }: SettingAuthor & { locale: Locale },
): Promise<void> {
  const { values, unset } = await changesIn(shop, plugin, form, locale);
  await shop.settings.setMany(values, { unset, ...author });
}
