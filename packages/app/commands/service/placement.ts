import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isBucket, isValidDestination } from '@tradepost/backup';
import { ConfigError, loadConfig } from '@tradepost/runtime';
import { UsageError } from '@tradepost/terminal';

/** Where the shop is installed, and under which user it runs. Paths are absolute. */
export type Placement = {
  user: string;
  /** The checkout, or the package of a global installation. */
  directory: string;
  /** The program Node.js. */
  node: string;
  /** Of the programs: `.ts` in a checkout, `.js` in a global installation. */
  extension: string;
  data: string;
  environmentFile: string;
  /** The file of the command for operators. */
  command: string;
  /** Folder of backups, or `s3://bucket/prefix`. */
  backups: string;
  shutdownSeconds: number;
  /** For processes behind a proxy. */
  drainSeconds: number;
};

export type PlacementOptions = Record<'user' | 'directory' | 'data' | 'environmentFile' | 'backups', string> & {
  node?: string;
  command?: string;
};

export const usualData = '/var/lib/tradepost';
export const usualEnvironmentFile = '/etc/tradepost/tradepost.env';
/** Long enough for a proxy that asks /ready every two seconds. */
const usualDrainSeconds = 5;
// The rules of systemd for other characters differ between its settings.
const plainPath = /^\/[\w./+@:-]*$/;
const plainUser = /^[a-z_][a-z0-9_-]{0,31}$/;

function pathOf(option: string, path: string): string {
  const absolute = resolve(path);
  if (!plainPath.test(absolute))
    throw new UsageError(`${option}: a path in a unit may have letters, digits and . _ + @ : - only`);
  return absolute;
}

function backupsOf(place: string): string {
  if (!isValidDestination(place))
    throw new UsageError('--backups: must be a folder, or s3://bucket/prefix of letters, digits, dots, - and _');
  return isBucket(place) ? place : pathOf('--backups', place);
}

/** The times of the environment file, where this user can read it. The units wait that long at a stop. */
function timesOf(environmentFile: string): Pick<Placement, 'shutdownSeconds' | 'drainSeconds'> {
  let env: NodeJS.Dict<string> = {};
  try {
    env = parseEnv(readFileSync(environmentFile, 'utf8'));
  } catch {
    // It may be written later, or be readable for root only.
  }
  const { SHUTDOWN_SECONDS, DRAIN_SECONDS } = env;
  try {
    const { config } = loadConfig({ env: { SHUTDOWN_SECONDS, DRAIN_SECONDS } });
    return {
      shutdownSeconds: config.shutdownSeconds,
      drainSeconds: DRAIN_SECONDS ? config.drainSeconds : usualDrainSeconds,
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(`${environmentFile}: ${error.problems.join('; ')}`);
  }
}

/** The Node.js of the installation, otherwise the one that runs this command. */
function nodeOf(directory: string): string {
  const pinned = join(directory, 'node_modules/.bin/node');
  return existsSync(pinned) ? pinned : process.execPath;
}

/** The command of a copy has a name of its own, so that it does not replace that of the shop beside it. */
function commandOf(data: string, environmentFile: string): string {
  const names = [
    ...(data === usualData ? [] : [basename(data)]),
    ...(environmentFile === usualEnvironmentFile ? [] : [basename(environmentFile, extname(environmentFile))]),
  ].map((name) => (/^tradepost(-|$)/.test(name) ? name : `tradepost-${name}`));
  return join('/usr/local/bin', names.find((name) => name !== 'tradepost') ?? 'tradepost');
}

/** Throws UsageError for a name or a path that cannot be written into a unit. */
export function placementOf(options: PlacementOptions): Placement {
  if (!plainUser.test(options.user)) throw new UsageError('--user: not the name of a user');
  const directory = pathOf('--directory', options.directory);
  const data = pathOf('--data', options.data);
  const environmentFile = pathOf('--environment-file', options.environmentFile);
  return {
    user: options.user,
    directory,
    node: pathOf('--node', options.node ?? nodeOf(directory)),
    extension: extname(import.meta.filename),
    data,
    environmentFile,
    command: pathOf('--command', options.command ?? commandOf(data, environmentFile)),
    backups: backupsOf(options.backups),
    ...timesOf(environmentFile),
  };
}
