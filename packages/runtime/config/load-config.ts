import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  type Config,
  type ConfigKey,
  type ConfigSource,
  configFields,
  type Field,
  type LoadedConfig,
  type MisspeltVariable,
} from './fields.ts';
import { meantText, similarNames } from './similar-name.ts';

/** The configuration cannot be used. Each problem names the variable or key, and never its value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration can not be used:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

// Not a record of zod: it drops the key `__proto__`, which must be reported.
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readFile(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { message } = error as Error;
    if (!(error instanceof SyntaxError)) throw new ConfigError([`${path}: ${message}`]);
    // The message of the parser quotes the text around the fault, which may be a password. Only the position is kept.
    const position = /\(line \d+ column \d+\)/.exec(message)?.[0] ?? '';
    throw new ConfigError([`${path}: ${`is not valid JSON ${position}`.trim()}`]);
  }
  if (!isObject(value)) throw new ConfigError([`${path}: must hold a JSON object`]);
  return value;
}

export type ConfigInput = {
  flags?: Partial<Record<ConfigKey, unknown>>;
  env?: Readonly<Record<string, string | undefined>>;
  /** The path of the configuration file. Default: the environment variable `TRADEPOST_CONFIG`. */
  file?: string | undefined;
};

type Given = { value: unknown; source: ConfigSource; name: string };

/** The value of one field from the source with the highest priority. `name` is for messages. */
function givenValue(
  [key, field]: readonly [ConfigKey, Field],
  flag: unknown,
  variable: string | undefined,
  fromFile: Readonly<Record<string, unknown>>,
  file: string | null,
): Given {
  if (flag !== undefined) return { value: flag, source: 'command line', name: field.flag ?? key };
  if (variable !== undefined) return { value: variable, source: 'environment', name: field.env };
  if (Object.hasOwn(fromFile, key)) return { value: fromFile[key], source: 'file', name: `${file}: ${key}` };
  return { value: undefined, source: 'default', name: key };
}

const configVariable = 'TRADEPOST_CONFIG';
const variables = [configVariable, ...Object.values(configFields).map((field) => field.env)];

export const misspeltText = ({ name, meant }: MisspeltVariable): string =>
  `the variable ${name} has no effect, and ${meant} is not set`;

/** Variables that are not known and that look like a known one that is not set. */
function misspeltVariables(env: Readonly<Record<string, string | undefined>>): MisspeltVariable[] {
  const known = new Set(variables);
  const unset = variables.filter((name) => !env[name]);
  return Object.keys(env).flatMap((name) => {
    const meant = known.has(name) || !env[name] ? [] : similarNames(name, unset);
    return meant.slice(0, 1).map((other) => ({ name, meant: other }));
  });
}

/**
 * Reads the configuration once. The command line overrides the environment, which overrides the file, which overrides
 * the defaults. An empty variable counts as absent. Throws ConfigError with all problems at once.
 */
export function loadConfig(input: ConfigInput = {}): LoadedConfig {
  const env = input.env ?? process.env;
  const file = input.file ?? (env[configVariable] || null);
  const fromFile = file ? readFile(resolve(file)) : {};
  const values: Record<string, unknown> = {};
  const sources: Record<string, ConfigSource> = {};
  const problems = Object.keys(fromFile)
    .filter((key) => key !== 'settings' && !Object.hasOwn(configFields, key))
    .map((key) => `${file}: "${key}" is not a setting${meantText(key, Object.keys(configFields))}`);
  for (const entry of Object.entries(configFields) as [ConfigKey, Field][]) {
    const [key, field] = entry;
    const given = givenValue(entry, input.flags?.[key], env[field.env] || undefined, fromFile, file);
    const parsed = field.schema.safeParse(given.value);
    if (parsed.success) values[key] = Object.freeze(parsed.data);
    // The value may be a secret, so it is not part of the message.
    else problems.push(`${given.name}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`);
    sources[key] = given.source;
  }
  // The demo seed has known passwords. It fills an external database only when the operator asks for it.
  if (sources.seed === 'default' && values.databaseUrl !== undefined) values.seed = 'none';
  // Only the operator should see them.
  if (values.production)
    for (const key of ['publicMetrics', 'publicDocs'] as const) if (sources[key] === 'default') values[key] = false;
  const settings = z.record(z.string(), z.unknown()).safeParse(fromFile.settings ?? {});
  if (!settings.success) problems.push(`${file}: settings must be an object`);
  if (problems.length > 0) throw new ConfigError(problems);
  values.settings = Object.freeze(settings.data);
  values.data = resolve(String(values.data));
  return {
    config: Object.freeze(values) as Config,
    sources: sources as Record<ConfigKey, ConfigSource>,
    file,
    misspelt: misspeltVariables(env),
  };
}
