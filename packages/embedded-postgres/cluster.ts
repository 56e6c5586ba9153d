import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { dataOf, type Place } from './folders.ts';
import { finishSwitch } from './major-version.ts';
import { signalable } from './pid.ts';
import { codeOf, run, serverEnvironment, syncPath, writeSynced } from './system.ts';

/** Creates the cluster when it does not exist. Returns whether this call created it. */
export async function ensureCluster({ home, binaries, account }: Place): Promise<boolean> {
  const data = dataOf(home);
  await removeLeftovers(home);
  await finishSwitch(home);
  if (existsSync(join(data, 'PG_VERSION'))) {
    // The server refuses a data directory that root restored, or that was copied without its modes.
    const now = await stat(data);
    if (account.uid !== undefined && now.uid === 0)
      await run('chown', ['-Rh', `${account.uid}:${account.gid}`, join(home, 'cluster')]);
    if (process.platform !== 'win32' && now.mode & 0o077) await chmod(data, 0o700);
    return false;
  }
  // Created in a folder beside the final one, and renamed when it is complete and on disk. An interrupted start leaves
  // no incomplete cluster.
  const draft = join(home, `init-${process.pid}-${randomBytes(4).toString('hex')}`);
  const password = join(draft, 'password');
  await mkdir(draft, { mode: 0o700 });
  try {
    await writeSynced(password, randomBytes(24).toString('hex'));
    if (account.uid !== undefined && account.gid !== undefined)
      for (const path of [draft, password]) await chown(path, account.uid, account.gid);
    await run(
      binaries.initdb,
      [
        ...['-D', join(draft, 'data'), '--username=tradepost', `--pwfile=${password}`, '--auth=scram-sha-256'],
        // The sort order and case rules of PostgreSQL do not depend on the C library of the system.
        ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        '--no-instructions',
      ],
      { ...account, cwd: draft, env: serverEnvironment() },
    ).catch((error) => {
      throw new Error(`The database in ${home} could not be created: ${error.stderr?.trim() || error.message}`);
    });
    await syncPath(draft);
    await rename(draft, join(home, 'cluster'));
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another first start was faster. Windows reports EPERM for a folder that exists.
    const taken = ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(String(codeOf(error)));
    if (taken && existsSync(join(data, 'PG_VERSION'))) return false;
    if (taken) throw new Error(`${join(home, 'cluster')} holds no PostgreSQL cluster: restore it, or move it away`);
    throw error;
  }
  await syncPath(home);
  return true;
}

export async function readPassword(home: string): Promise<string> {
  const path = join(home, 'cluster', 'password');
  return (
    await readFile(path, 'utf8').catch((error) => {
      throw new Error(`The password of the database in ${home} cannot be read: restore ${path} (${error.message})`);
    })
  ).trim();
}

/**
 * Removes the folders of killed first starts. A folder of a running start has the pid of a running process. A pid can
 * be reused, so the age decides too.
 */
async function removeLeftovers(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = Number(/^init-(\d+)-/.exec(name)?.[1]);
    if (!pid) continue;
    const path = join(home, name);
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now());
    if (!signalable(pid) || age > 10 * 60_000) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
