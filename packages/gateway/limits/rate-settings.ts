import type { Runtime, SettingAuthor, SettingRow } from '@tradepost/runtime';
import { runtimeErrors, type Setting } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import { rateLimitSettings } from '../settings.ts';

type Deps = Pick<Runtime, 'settings'>;

const group = 'ratelimit';
/** Names with this prefix are accepted as well. */
const specPrefix = 'system_settings.';
const definitions: ReadonlyMap<string, Setting<boolean | number>> = new Map(
  Object.values(rateLimitSettings).map((setting) => [setting.key, setting as Setting<boolean | number>]),
);

const withoutSpecPrefix = (name: string) => (name.startsWith(specPrefix) ? name.slice(specPrefix.length) : name);

/** The settings that a path names: one, or all settings of the limiter. Refuses an unknown name. */
export function settingsNamed(given: string): { keys: readonly string[]; isGroup: boolean } {
  const name = withoutSpecPrefix(given.replace(/%2a/gi, '*'));
  if (name === group || name === `${group}.*`) return { keys: [...definitions.keys()], isGroup: true };
  if (!definitions.has(name)) throw runtimeErrors.unknown_setting({ key: given });
  return { keys: [name], isGroup: false };
}

/** The setting that a field of the body names, with or without prefixes. */
function keyOf(field: string): string {
  const name = withoutSpecPrefix(field);
  const key = name.startsWith(`${group}.`) ? name : `${group}.${name}`;
  if (!definitions.has(key)) throw gatewayErrors.no_setting({ field });
  return key;
}

/**
 * Refuses a value. The refusal of a number or a switch is in the language of the caller. Any other refusal has the text
 * of the schema.
 */
function refuse(field: string, setting: Setting, reason: string): never {
  const { type, minimum: min, maximum: max } = setting.schema.toJSONSchema() as Record<string, number | string>;
  if (type === 'boolean') throw gatewayErrors.setting_switch({ field });
  if (type === 'integer' && min !== undefined && max !== undefined)
    throw gatewayErrors.setting_range({ field, min, max });
  throw gatewayErrors.setting_invalid({ field, reason });
}

type Row = Pick<SettingRow, 'key' | 'source' | 'about'> & {
  value: boolean | number | null;
  default: boolean | number | null;
};

export function settingRows({ settings }: Deps, keys: readonly string[]): Row[] {
  const rows = new Map(settings.list().map((row) => [row.key, row]));
  return keys.flatMap((key) => {
    const row = rows.get(key);
    if (!row) return [];
    return [
      {
        key,
        value: row.value as Row['value'],
        default: definitions.get(key)!.fallback,
        source: row.source,
        about: row.about,
      },
    ];
  });
}

/** Saves all given settings or none. null resets to the default. A value from the configuration file may be sent unchanged. */
export async function saveRateSettings(
  runtime: Deps,
  { keys, isGroup }: { keys: readonly string[]; isGroup: boolean },
  body: Readonly<Record<string, unknown>>,
  author: SettingAuthor,
): Promise<void> {
  const fields = Object.keys(body);
  const wrong = isGroup ? undefined : fields.find((field) => field !== 'value');
  if (wrong !== undefined) throw gatewayErrors.no_setting({ field: wrong });
  if (fields.length === 0) throw gatewayErrors.nothing_to_set();
  const rows = new Map(settingRows(runtime, keys).map((row) => [row.key, row]));
  const named = new Set<string>();
  const values: Record<string, unknown> = {};
  const unset: string[] = [];
  for (const field of fields) {
    const key = isGroup ? keyOf(field) : keys[0]!;
    const setting = definitions.get(key)!;
    const value = body[field];
    if (named.has(key)) throw gatewayErrors.setting_twice({ field });
    named.add(key);
    const parsed = value === null ? null : setting.schema.safeParse(value);
    if (parsed && !parsed.success) refuse(field, setting, parsed.error.issues.map((issue) => issue.message).join('; '));
    if (rows.get(key)?.source === 'file') {
      if (value !== rows.get(key)?.value) throw gatewayErrors.fixed_by_file({ field, key });
    } else if (value === null) unset.push(key);
    else values[key] = value;
  }
  await runtime.settings.setMany(values, { ...author, unset });
}
