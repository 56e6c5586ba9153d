import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import type { Sql } from '@tradepost/postgres';
import { dropTemporary, selectAbandoned } from './temporary-store.ts';

/** What a killed `backup verify` has left: databases on a server, and embedded servers in temporary folders. */

const host = hostname().replaceAll(/\W/g, '_').slice(0, 40);
const abandonedForm = new RegExp(`^tradepost-verify-${host}-(\\d+)-`);

/** The beginning of the name of a folder of this process. Process numbers are those of one host. */
export const folderPrefix = (): string => `tradepost-verify-${host}-${process.pid}-`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it belongs to another user.
    return (error as { code?: string }).code !== 'ESRCH';
  }
}

/** Other users can make folders with such names: only those of this user are removed. */
const isOwn = (folder: string): Promise<boolean> =>
  lstat(folder).then(
    (info) => info.isDirectory() && info.uid === process.getuid?.(),
    () => false,
  );

/** Removes a folder, and the data of its server where that is elsewhere: the account of the server could not enter the folder. */
export async function removeFolder(folder: string): Promise<void> {
  const elsewhere = await readFile(join(folder, 'cluster-location'), 'utf8').catch(() => '');
  if (elsewhere.trim() !== '') await rm(elsewhere.trim(), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}

/** Stops the servers of killed processes of this host, and removes their folders. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(abandonedForm.exec(name)?.[1]);
    if (!pid || isAlive(pid)) continue;
    const folder = join(tmpdir(), name);
    if (!(await isOwn(folder))) continue;
    try {
      // A server that still runs is adopted.
      const server = await startEmbeddedPostgres({ directory: folder, settings: { fsync: 'off' } });
      await server.stop();
    } catch {
      // It was killed before its cluster was complete.
    }
    await removeFolder(folder).catch(() => {});
  }
}

/** Drops the databases of killed processes on this server, as far as the role may. */
export async function removeAbandonedDatabases(sql: Sql): Promise<void> {
  for (const name of await selectAbandoned(sql)) await dropTemporary(sql, name).catch(() => {});
}
