import { stat } from 'node:fs/promises';
import { type Finding, findingsOf, isLoopback } from '@tradepost/module';
import type { LoadedConfig, Setting } from '@tradepost/runtime';

/** Values that are allowed and still ask for trouble, and who may read the file they come from. */
export async function checkConfiguration(loaded: LoadedConfig, settings: readonly Setting[]): Promise<Finding[]> {
  const { config, sources, file } = loaded;
  const { findings, ok, note, warning, error } = findingsOf('configuration');
  const chosen = [
    ...Object.entries(sources).filter(([, source]) => source !== 'default'),
    ...Object.keys(config.settings).map((key) => [key, 'file'] as const),
  ].map(([key, source]) => `${key} (${source})`);
  ok(`${file ?? 'no file'}; ${chosen.join(', ') || 'all values are defaults'}`);
  if (!config.production && !isLoopback(config.host))
    warning(
      `the shop is reachable from outside (HOST ${config.host}) in development mode: demo accounts can log in, login codes are answered`,
      'set NODE_ENV=production, or HOST=127.0.0.1 when only this machine shall reach it',
    );
  if (config.production && config.only.includes('api') && !config.publicUrl)
    error(
      `no PUBLIC_URL: file addresses are made only for the hosts of PUBLIC_HOSTS (${config.publicHosts.join(', ') || 'none'}), for others without a host`,
      'set PUBLIC_URL to the address under which clients reach the shop',
    );
  else if (!config.publicUrl && !isLoopback(config.host))
    warning(
      `no PUBLIC_URL with HOST ${config.host}: file addresses are made for this machine's addresses and PUBLIC_HOSTS only`,
      'set PUBLIC_URL to the address under which clients reach the shop',
    );
  if (config.production && config.publicUrl?.startsWith('http:') && !isLoopback(new URL(config.publicUrl).hostname))
    warning('PUBLIC_URL is not https: tokens and passwords travel in the open', 'put a TLS proxy before the shop');
  if (config.tokenHours > 24 * 31)
    warning(
      `a login lasts ${config.tokenHours} hours: a stolen token works as long`,
      'lower TOKEN_HOURS to 720 or less',
    );
  if (config.logLevel === 'silent')
    warning('LOG_LEVEL silent: nobody learns of a fault', 'set LOG_LEVEL to warn or info');
  else if (config.production && ['trace', 'debug'].includes(config.logLevel))
    note(`LOG_LEVEL ${config.logLevel} writes much, and costs time under load`, 'set LOG_LEVEL=info when you are done');
  if (config.only.length < 2 && !config.redisUrl)
    warning(
      `only ${config.only.join()} runs in this process, and there is no REDIS_URL: instances do not hear of each other's changes`,
      'set REDIS_URL to a Redis or Valkey that all instances share',
    );
  if (file && process.platform !== 'win32') {
    const { mode } = await stat(file);
    const secrets = [
      ...(sources.databaseUrl === 'file' ? ['databaseUrl'] : []),
      ...(sources.redisUrl === 'file' ? ['redisUrl'] : []),
    ];
    const secretSettings = settings.filter((each) => each.secret && Object.hasOwn(config.settings, each.key));
    if (mode & 0o077 && secrets.length + secretSettings.length > 0)
      warning(`${file} holds secrets and others may read it`, `chmod 600 ${file}`);
  }
  for (const [key, value] of Object.entries(config.settings)) {
    const definition = settings.find((each) => each.key === key);
    const parsed = definition?.schema.safeParse(value);
    if (definition?.readOnly)
      error(`${file}: ${key} can not be set: the program records it itself`, 'take it out: the shop does not start');
    else if (!definition)
      error(`${file}: there is no shop setting ${key}`, 'correct its name: tradepost settings list');
    else if (!parsed?.success)
      error(
        `${file}: ${key}: ${parsed?.error.issues.map((issue) => issue.message).join('; ')}`,
        'correct the value: the shop does not start with it',
      );
  }
  return findings;
}
