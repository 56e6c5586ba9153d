import type { Localized } from '@tradepost/core';
import type { ConfigPage, Setting, SettingField } from '@tradepost/runtime';

/** A setting with its place in the configuration centre. */
export type ConfigField = { readonly key: string; readonly setting: Setting; readonly field: SettingField };
export type ConfigPlugin = ConfigPage & { readonly fields: readonly ConfigField[] };

const last = 1_000;

/** The pages that the settings of the running modules declare, in the order of the console. */
export function configPlugins(definitions: readonly Setting[]): ReadonlyMap<string, ConfigPlugin> {
  const fields = definitions.flatMap((setting) => {
    const { field } = setting;
    if (!field) return [];
    const { plugin } = field.page;
    const own = setting.key.startsWith(`${plugin}.`) ? setting.key.slice(plugin.length + 1) : setting.key;
    return [{ key: field.key ?? own, setting, field }];
  });
  const plugins = new Map<string, ConfigPlugin & { fields: ConfigField[] }>();
  const sorted = fields.toSorted(
    (a, b) => a.field.page.sort - b.field.page.sort || (a.field.sort ?? last) - (b.field.sort ?? last),
  );
  for (const one of sorted) {
    const { page } = one.field;
    const plugin = plugins.get(page.plugin) ?? { ...page, fields: [] };
    if (plugin.fields.some(({ key }) => key === one.key))
      throw new Error(`two settings are ${one.key} of the plugin ${page.plugin}`);
    plugin.fields.push(one);
    plugins.set(page.plugin, plugin);
  }
  return plugins;
}

export const fieldTypes = ['text', 'password', 'textarea', 'number', 'select', 'switch'] as const;

export function typeOf({ setting, field }: ConfigField): (typeof fieldTypes)[number] {
  if (setting.secret) return 'password';
  if (field.choices) return 'select';
  if (typeof setting.fallback === 'boolean') return 'switch';
  if (typeof setting.fallback === 'number') return 'number';
  return field.multiline || typeof setting.fallback !== 'string' ? 'textarea' : 'text';
}

/** The values of a select. The current value can be another name of one of them. */
export function optionsOf({ field }: ConfigField, current: string): { value: string; label: Localized | string }[] {
  const choices = field.choices ?? [];
  const values = choices.includes(current) ? choices : [...choices, current];
  return values.map((value) => ({ value, label: field.choiceLabels?.[value] ?? value }));
}
