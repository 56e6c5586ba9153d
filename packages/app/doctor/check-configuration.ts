import { stat } from 'node:fs/promises';
import { type Finding, type Findings, findingsOf, isLoopback, isNotEncrypted } from '@tradepost/module';
import { type LoadedConfig, meantText, misspeltText, type Setting } from '@tradepost/runtime';

/** Checks the permissions of the file, and the shop settings in it. */
async function checkFile(
  file: string,
  { config, sources }: LoadedConfig,
  settings: readonly Setting[],
  { warning, error }: Findings,
): Promise<void> {
  if (process.platform !== 'win32') {
    const { mode } = await stat(file);
    const secrets = [
      ...(sources.databaseUrl === 'file' ? ['databaseUrl'] : []),
      ...(sources.redisUrl === 'file' ? ['redisUrl'] : []),
    ];
    const secretSettings = settings.filter((each) => each.secret && Object.hasOwn(config.settings, each.key));
    if (mode & 0o077 && secrets.length + secretSettings.length > 0)
      warning(
        'configuration/file-readable',
        `${file} contains secrets, and other accounts of this machine can read it`,
        `chmod 600 ${file}`,
      );
  }
  for (const [key, value] of Object.entries(config.settings)) {
    const definition = settings.find((each) => each.key === key);
    const parsed = definition?.schema.safeParse(value);
    if (definition?.readOnly)
      error(
        'configuration/read-only-setting',
        `${file}: ${key} cannot be set: the program records it itself`,
        'remove it: the shop does not start with it',
      );
    else if (!definition)
      error(
        'configuration/unknown-setting',
        `${file}: there is no shop setting ${key}${meantText(
          key,
          settings.map((each) => each.key),
        )}`,
        'correct its name: tradepost settings list',
      );
    else if (!parsed?.success)
      error(
        'configuration/invalid-setting',
        `${file}: ${key}: ${parsed?.error.issues.map((issue) => issue.message).join('; ')}`,
        'correct the value: the shop does not start with it',
      );
  }
}

/** Checks values that are valid and still risky, and the permissions of the configuration file. */
export async function checkConfiguration(loaded: LoadedConfig, settings: readonly Setting[]): Promise<Finding[]> {
  const { config, sources, file, misspelt } = loaded;
  const found = findingsOf('configuration');
  const { findings, ok, note, warning, error } = found;
  const chosen = [
    ...Object.entries(sources).filter(([, source]) => source !== 'default'),
    ...Object.keys(config.settings).map((key) => [key, 'file'] as const),
  ].map(([key, source]) => `${key} (${source})`);
  ok(`${file ?? 'no file'}; ${chosen.join(', ') || 'all values are defaults'}`);
  for (const variable of misspelt)
    warning(
      'configuration/misspelt-variable',
      misspeltText(variable),
      `rename it to ${variable.meant}, or unset it when another program uses it`,
    );
  if (!config.production && !isLoopback(config.host))
    warning(
      'configuration/development-open',
      `the shop is reachable from outside (HOST ${config.host}) in development mode: demo accounts can log in, and answers contain login codes`,
      'set NODE_ENV=production, or HOST=127.0.0.1 when only this machine needs to reach it',
    );
  if (config.production && config.only.includes('api') && !config.publicUrl)
    error(
      'configuration/no-public-url',
      `no PUBLIC_URL: file addresses have a host only for requests to PUBLIC_HOSTS (${config.publicHosts.join(', ') || 'empty'})`,
      'set PUBLIC_URL to the address under which clients reach the shop',
    );
  else if (!config.publicUrl && !isLoopback(config.host))
    warning(
      'configuration/no-public-url',
      `no PUBLIC_URL with HOST ${config.host}: file addresses have a host only for requests to this machine's addresses and PUBLIC_HOSTS`,
      'set PUBLIC_URL to the address under which clients reach the shop',
    );
  if (config.production && config.publicUrl && isNotEncrypted(config.publicUrl))
    warning(
      'configuration/public-url-not-https',
      'PUBLIC_URL is not https: tokens and passwords are sent unencrypted',
      'put a TLS proxy in front of the shop',
    );
  if (config.production && config.publicUrl?.startsWith('https:') && config.trustedProxies.length === 0)
    warning(
      'configuration/no-trusted-proxies',
      'PUBLIC_URL is https, so a proxy is in front of the shop, and TRUSTED_PROXIES is not set: all clients share the address and the limits of the proxy',
      'set TRUSTED_PROXIES to the address from which the proxy connects, such as 127.0.0.1',
    );
  if (config.tokenHours > 24 * 31)
    warning(
      'configuration/long-logins',
      `a login lasts ${config.tokenHours} hours, and so does a stolen token`,
      'lower TOKEN_HOURS to 720 or less',
    );
  if (config.logLevel === 'silent')
    warning('configuration/log-silent', 'LOG_LEVEL silent: faults are not logged', 'set LOG_LEVEL to warn or info');
  else if (config.production && ['trace', 'debug'].includes(config.logLevel))
    note(
      'configuration/log-verbose',
      `LOG_LEVEL ${config.logLevel} writes many lines and is slow under load`,
      'set LOG_LEVEL=info after the investigation',
    );
  if (config.only.length < 2 && !config.redisUrl)
    warning(
      'configuration/no-shared-store',
      `only ${config.only.join()} runs in this process, and REDIS_URL is not set: each process counts log-in attempts and gateway limits for itself`,
      'set REDIS_URL to a Redis or Valkey that all instances share',
    );
  if (file) await checkFile(file, loaded, settings, found);
  return findings;
}
