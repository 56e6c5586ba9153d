import { type ConfigKey, type ConfigSource, configFields, type Field, type LoadedConfig } from './fields.ts';

function masked(value: unknown): string {
  const text = String(value);
  if (/^rediss?:/.test(text) && text.includes(',')) return text.split(',').map(masked).join(',');
  if (!URL.canParse(text)) return '***';
  const parsed = new URL(text);
  if (parsed.password) parsed.password = '***';
  for (const name of parsed.searchParams.keys()) if (/pass/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.toString();
}

/** The rows of `tradepost config`: each value with its source. Secrets are masked. */
export function describeConfig(
  loaded: LoadedConfig,
): { key: ConfigKey; env: string; value: string; source: ConfigSource; about: string }[] {
  return (Object.entries(configFields) as [ConfigKey, Field][]).map(([key, field]) => {
    const value = loaded.config[key];
    const shown = value === undefined ? '' : field.secret ? masked(value) : (field.show ?? String)(value);
    return { key, env: field.env, value: shown, source: loaded.sources[key], about: field.about };
  });
}
