import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Binaries, type PlatformPackage, usableBinaries } from './binaries.ts';
import {
  type Account,
  codeOf,
  isRoot,
  type Log,
  makeEnterable,
  messageOf,
  run,
  syncPath,
  writeSynced,
} from './system.ts';

/** `home` contains the folder `cluster`, which contains `data` and `password`. `major` is that of the binaries. */
export type Place = { home: string; binaries: Binaries; major: number; account: Account };

export const dataOf = (home: string) => join(home, 'cluster', 'data');

async function canEnter(path: string, account: Account): Promise<boolean> {
  if (account.uid === undefined) return true;
  return run('/bin/sh', ['-c', 'cd "$1"', 'sh', path], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

async function systemAccount(): Promise<Account> {
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
  try {
    const known = await id('-u').catch(() => undefined);
    if (known === undefined) {
      await run('groupadd', ['--system', '--force', 'postgres']);
      const user = ['--system', '--gid', 'postgres', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'];
      // Of two first starts at once, the slower one fails here. The lookup below decides.
      await run('useradd', user).catch(() => {});
    }
    return { uid: known ?? (await id('-u')), gid: await id('-g') };
  } catch (error) {
    throw new Error(
      `PostgreSQL does not run as root, and the system user "postgres" could not be created: ${messageOf(error)}. ` +
        'Create it, start as another user, or set DATABASE_URL to a server.',
      { cause: error },
    );
  }
}

/** The account of the server. For an existing cluster it is the owner, so that root and the owner can both start it. */
async function accountFor(home: string): Promise<Account> {
  const data = await stat(dataOf(home)).catch((error) => {
    if (codeOf(error) === 'EACCES') throw new Error(`${dataOf(home)} belongs to another user: start as it, or as root`);
  });
  if (isRoot) return data && data.uid !== 0 ? { uid: data.uid, gid: data.gid } : systemAccount();
  if (data && process.getuid && data.uid !== process.getuid())
    throw new Error(`${dataOf(home)} belongs to user ${data.uid}: start as that user, or as root`);
  return {};
}

const pointerIn = (directory: string) => join(directory, 'cluster-location');

/**
 * The home that the pointer file of `directory` names. The file `origin` in that home names `directory`: it
 * distinguishes a moved folder from a copy.
 */
async function followPointer(directory: string): Promise<string | undefined> {
  const pointer = pointerIn(directory);
  const home = await readFile(pointer, 'utf8').then(
    (text) => text.trim(),
    (error) => {
      // An unreadable pointer must not count as a missing one: the shop would start with an empty database.
      if (codeOf(error) !== 'ENOENT') throw error;
    },
  );
  if (!home) return undefined;
  const origin = await readFile(join(home, 'origin'), 'utf8').catch(() => undefined);
  if (origin === undefined)
    throw new Error(`The data of ${directory} should be in ${home}: restore it, or remove ${pointer} to start empty`);
  const here = await realpath(directory);
  if (origin === here) return home;
  if ((await readFile(pointerIn(origin), 'utf8').catch(() => '')).trim() === home)
    throw new Error(
      `${here} is a copy of ${origin}, and its data is in ${home}: remove ${pointer} here to start empty, ` +
        'or use --data with another directory',
    );
  await writeSynced(join(home, 'origin'), here);
  return home;
}

async function createSharedHome(directory: string, shared: string, log: Log): Promise<string> {
  const home = join(shared, 'clusters', randomUUID());
  try {
    await makeEnterable(shared, dirname(home), home);
    await writeSynced(join(home, 'origin'), await realpath(directory));
    await syncPath(home);
    await syncPath(dirname(home));
  } catch (error) {
    throw new Error(
      `PostgreSQL cannot run as root, its account cannot enter ${directory}, and ${home} could not be created: ` +
        `${messageOf(error)}. Use --data with a directory that every user may enter, or set DATABASE_URL to a server.`,
      { cause: error },
    );
  }
  const draft = join(directory, `cluster-location.${randomUUID()}`);
  await writeSynced(draft, `${home}\n`);
  try {
    // `link` fails when the file exists, `rename` would replace it. So one of two first starts wins.
    await link(draft, pointerIn(directory));
    log(`The account of the server cannot enter ${directory}: the database is kept in ${home}`);
  } catch {
    await rm(home, { recursive: true });
  } finally {
    await rm(draft);
  }
  await syncPath(directory);
  return (await followPointer(directory)) ?? home;
}

/** Chooses the account of the server, the folder of its data, and binaries that the account can execute. */
export async function choosePlace(
  directory: string,
  shared: string,
  log: Log,
  platform: PlatformPackage,
): Promise<Place> {
  await mkdir(directory, { recursive: true }).catch((error) => {
    throw new Error(`${directory} cannot be created (${messageOf(error)}): use --data with another directory`);
  });
  const pointed = await followPointer(directory);
  let home = pointed ?? directory;
  const account = await accountFor(home);
  if (!(await canEnter(home, account))) {
    if (pointed) throw new Error(`User ${account.uid} cannot enter ${home}: make it readable to that user again`);
    home = await createSharedHome(directory, shared, log);
  }
  // A start that was killed before this step, or a checkout that was moved below /root, also leaves a local cluster.
  const local = join(directory, 'cluster');
  if (home !== directory && existsSync(local) && !existsSync(join(home, 'cluster')))
    await rename(local, join(home, 'cluster')).catch((error) => {
      throw new Error(`User ${account.uid} cannot enter ${local}: move it to ${home} (${messageOf(error)})`);
    });

  const binaries = await usableBinaries(platform, account, shared, log);
  return { home, account, binaries, major: platform.major };
}
