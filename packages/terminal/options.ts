import { type ConfigKey, type LoadedConfig, loadConfig } from '@tradepost/runtime';
import { type Command, InvalidArgumentError } from 'commander';
import { warnOfPassword } from './secrets/read-secret.ts';

export type GlobalOptions = { config?: string; data?: string; databaseUrl?: string; redisUrl?: string; json?: boolean };

/** Adds the options of commands that open the database. An address with a password causes a warning. */
export function withDatabaseOptions(command: Command): Command {
  return command
    .option('--config <file>', 'JSON configuration file')
    .option('--data <folder>', 'data folder (default .tradepost)')
    .option('--database-url <url>', 'external PostgreSQL instead of the embedded one')
    .option('--redis-url <url>', 'Redis or Valkey that all processes of the shop share')
    .hook('preAction', (_command, action) => {
      const { databaseUrl, redisUrl } = action.opts();
      warnOfPassword('--database-url', databaseUrl, 'DATABASE_URL or the configuration file');
      warnOfPassword('--redis-url', redisUrl, 'REDIS_URL or the configuration file');
    });
}

/** Splits `a, b` at commas. Empty parts are left out. */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The options that say which database, without the own options of a command: a configuration has no `--failed`. */
export const databaseOptions = ({ config, data, databaseUrl, redisUrl, json }: GlobalOptions): GlobalOptions => ({
  ...{ config, data, databaseUrl, redisUrl, json },
});

/** Parses a whole number from `min` to `max`. Other text is wrong usage. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };

/** Loads the configuration from flags, environment and file. Throws ConfigError. */
export function configOf(options: GlobalOptions & Partial<Record<ConfigKey, unknown>>): LoadedConfig {
  const { config: file, json: _json, ...flags } = options;
  return loadConfig({ flags: flags as Partial<Record<ConfigKey, unknown>>, file });
}
