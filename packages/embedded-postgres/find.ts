import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findPackage } from './binaries.ts';
import { readPassword } from './cluster.ts';
import { dataOf } from './folders.ts';
import { majorOf, nextCluster } from './major-version.ts';
import { readPidFile, serverState } from './pid.ts';
import { codeOf } from './system.ts';

export type FoundPostgres = {
  state: 'absent' | 'stopped' | 'running';
  dataDirectory: string;
  passwordFile: string;
  /** The address of a running server. */
  url: string | null;
  /** The folder that contains the folder `cluster`. */
  home: string;
  /** The major version of PostgreSQL that made the cluster. Null without a cluster. */
  major: number | null;
};

/** Reports the state of the embedded server of a folder. Starts, adopts and moves nothing. */
export async function findEmbeddedPostgres(directory: string): Promise<FoundPostgres> {
  const here = resolve(directory);
  const pointer = await readFile(join(here, 'cluster-location'), 'utf8').catch(() => '');
  const home = pointer.trim() || here;
  const found = { dataDirectory: dataOf(home), passwordFile: join(home, 'cluster', 'password'), url: null, home };
  const major = await majorOf(found.dataDirectory);
  if (major === null) return { ...found, major, state: 'absent' };
  const file = readPidFile(found.dataDirectory);
  const alive = file && file.pid > 0 && ['ours', 'unknown'].includes(serverState(file, found.dataDirectory));
  if (!alive || file.status !== 'ready') return { ...found, major, state: 'stopped' };
  const url = `postgres://tradepost:${await readPassword(home)}@127.0.0.1:${file.port}/tradepost`;
  return { ...found, major, state: 'running', url };
}

/**
 * Whether a start would find a cluster and not create one. True also when a folder cannot be read, or when the cluster
 * should be in another folder and is missing there: the start reports these faults.
 */
export async function hasEmbeddedPostgres(directory: string): Promise<boolean> {
  const there = (path: string) =>
    stat(path).then(
      () => true,
      (error) => !['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? ''),
    );
  const here = resolve(directory);
  const pointer = await readFile(join(here, 'cluster-location'), 'utf8').catch((error) =>
    ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '') ? '' : null,
  );
  if (pointer === null) return true;
  const home = pointer.trim();
  if (home && !(await there(join(home, 'origin')))) return true;
  const paths = (home ? [home, here] : [here]).flatMap((each) => [dataOf(each), nextCluster(each)]);
  return (await Promise.all(paths.map(there))).includes(true);
}

/** The path of the server binary of this platform. Rejects with an advice when it is not installed. */
export async function embeddedBinaries(): Promise<string> {
  return (await findPackage()).binaries.postgres;
}
