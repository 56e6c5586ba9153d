import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Binaries, usableBinaries } from './binaries.ts';
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

/** `home` holds the folder `cluster`, which holds `data` and `password`. */
export type Place = { home: string; binaries: Binaries; account: Account };

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
      // Two first starts at once: the slower one finds the name taken, and the lookup below decides.
      await run('useradd', user).catch(() => {});
    }
    return { uid: known ?? (await id('-u')), gid: await id('-g') };
  } catch (error) {
    throw new Error(
      `PostgreSQL does not run as root and the system user "postgres" could not be created: ${messageOf(error)}. ` +
        'Create it, start as another user, or set DATABASE_URL to a server.',
      { cause: error },
    );
  }
}

/** An existing cluster runs as its owner, so that root and the owner can start it in turn. */
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

/** Where the cluster of `directory` lies instead; `origin` there leads back, which tells a moved checkout from a copy. */
async function followPointer(directory: string): Promise<string | undefined> {
  const pointer = pointerIn(directory);
  const home = await readFile(pointer, 'utf8').then(
    (text) => text.trim(),
    (error) => {
      // Taken for absent when it is only unreadable, the shop would begin empty.
      if (codeOf(error) !== 'ENOENT') throw error;
    },
  );
  if (!home) return undefined;
  const origin = await readFile(join(home, 'origin'), 'utf8').catch(() => undefined);
  if (origin === undefined)
    throw new Error(`The data of ${directory} should be in ${home}: restore it, or remove ${pointer} to begin empty`);
  const here = await realpath(directory);
  if (origin === here) return home;
  if ((await readFile(pointerIn(origin), 'utf8').catch(() => '')).trim() === home)
    throw new Error(
      `${here} is a copy of ${origin}, and its data is in ${home}: remove ${pointer} here to begin empty, ` +
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
      `PostgreSQL can not run as root, its account can not reach ${directory}, and ${home} could not be created: ` +
        `${messageOf(error)}. Use --data with a directory every user may enter, or set DATABASE_URL to a server.`,
      { cause: error },
    );
  }
  const draft = join(directory, `cluster-location.${randomUUID()}`);
  await writeSynced(draft, `${home}\n`);
  try {
    // link fails where rename would overwrite: of two first starts one wins.
    await link(draft, pointerIn(directory));
    log(`The server's account can not reach ${directory}: the database is kept in ${home}`);
  } catch {
    await rm(home, { recursive: true });
  } finally {
    await rm(draft);
  }
  await syncPath(directory);
  return (await followPointer(directory)) ?? home;
}

/** Decides which account runs the server, where its data lies, and which binaries it can execute. */
export async function choosePlace(directory: string, shared: string, log: Log): Promise<Place> {
  await mkdir(directory, { recursive: true }).catch((error) => {
    throw new Error(`${directory} can not be created (${messageOf(error)}): use --data with another directory`);
  });
  const pointed = await followPointer(directory);
  let home = pointed ?? directory;
  const account = await accountFor(home);
  if (!(await canEnter(home, account))) {
    if (pointed) throw new Error(`User ${account.uid} can not enter ${home}: make it readable to that user again`);
    home = await createSharedHome(directory, shared, log);
  }
  // Also left by a start that was killed between the pointer and this step, or by a checkout moved below /root.
  const local = join(directory, 'cluster');
  if (home !== directory && existsSync(local) && !existsSync(join(home, 'cluster')))
    await rename(local, join(home, 'cluster')).catch((error) => {
      throw new Error(`User ${account.uid} can not reach ${local}: move it to ${home} (${messageOf(error)})`);
    });

  return { home, account, binaries: await usableBinaries(account, shared, log) };
}
