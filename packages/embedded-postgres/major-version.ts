import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './folders.ts';
import { syncPath } from './system.ts';

/** The cluster was made by another major version of PostgreSQL than the binaries have. They cannot run it. */
export class OtherMajorError extends Error {
  override name = 'OtherMajorError';
  readonly major: number;
  readonly installed: number;
  constructor(dataDirectory: string, major: number, installed: number) {
    super(
      `The database in ${dataDirectory} is of PostgreSQL ${major}, and PostgreSQL ${installed} is installed, which cannot run it`,
    );
    this.major = major;
    this.installed = installed;
  }
}

/** The major version of a data directory. Null without a cluster. */
export async function majorOf(data: string): Promise<number | null> {
  const text = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => null);
  return text === null ? null : Number.parseInt(text, 10);
}

export async function refuseOtherMajor({ home, major: installed }: Place): Promise<void> {
  const data = join(home, 'cluster', 'data');
  const major = await majorOf(data);
  if (major !== null && major !== installed) throw new OtherMajorError(data, major, installed);
}

/** A complete cluster that takes the place of the one in `home`. */
export const nextCluster = (home: string): string => join(home, 'cluster-next');

/** Ends a switch that was interrupted between its renames, when no folder `cluster` exists. */
export async function finishSwitch(home: string): Promise<void> {
  const cluster = join(home, 'cluster');
  if (existsSync(cluster) || !existsSync(join(nextCluster(home), 'data', 'PG_VERSION'))) return;
  await rename(nextCluster(home), cluster);
  await syncPath(home);
}

/**
 * Puts a complete, stopped cluster in the place of the one in `home`, which is kept. Returns the folder where it is kept. After an
 * interruption there is either the former cluster, or the next start finds the new one (`finishSwitch`).
 */
export async function switchCluster(home: string, next: string): Promise<string> {
  const cluster = join(home, 'cluster');
  const major = await majorOf(join(cluster, 'data'));
  let kept = join(home, `cluster-${major}`);
  for (let n = 2; existsSync(kept); n += 1) kept = join(home, `cluster-${major}-${n}`);
  await rename(next, nextCluster(home));
  await syncPath(home);
  await rename(cluster, kept);
  await syncPath(home);
  await finishSwitch(home);
  return kept;
}
