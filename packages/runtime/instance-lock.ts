import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from './database.ts';

/** Arbitrary, but the same for every version. */
const lockKey = 7_205_883_102;

export class AlreadyRunningError extends Error {
  override name = 'AlreadyRunningError';
}

export type InstanceLock = {
  /** Written beside the data so that a second start can say where the first one is. */
  announce(url: string): Promise<void>;
  release(): Promise<void>;
};

/**
 * One server per embedded database. The lock is a session's advisory lock: it ends with the process however that dies,
 * so nothing stale can stop the next start. Answers null when another process holds it.
 */
export async function tryInstanceLock(databaseUrl: string, data: string): Promise<InstanceLock | null> {
  const sql = openDatabase(databaseUrl, { max: 1, name: 'tradepost instance', maxLifetimeSeconds: null });
  const file = join(data, 'instance.json');
  const [row] = await sql<{ locked: boolean }[]>`select pg_try_advisory_lock(${lockKey}) as locked`;
  if (!row?.locked) {
    await sql.end({ timeout: 1 });
    return null;
  }
  return {
    async announce(url) {
      await writeFile(file, JSON.stringify({ pid: process.pid, url, started_at: new Date().toISOString() }));
    },
    async release() {
      await rm(file, { force: true });
      await sql.end({ timeout: 1 });
    },
  };
}

export async function alreadyRunning(data: string): Promise<AlreadyRunningError> {
  const text = await readFile(join(data, 'instance.json'), 'utf8').catch(() => '{}');
  const info = JSON.parse(text) as { pid?: number; url?: string };
  const where = info.url ? ` (pid ${info.pid}, ${info.url})` : '';
  return new AlreadyRunningError(
    `Tradepost is already running on ${data}${where}. Stop it first, or give this one another --data and --port.`,
  );
}
