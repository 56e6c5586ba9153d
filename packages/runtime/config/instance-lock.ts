import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '@tradepost/postgres';

/** The advisory locks. The numbers are arbitrary and must never change. */
const serveKey = 7_205_883_102;
const visitKey = 7_205_883_104;
const watchMs = 5_000;

export class AlreadyRunningError extends Error {
  override name = 'AlreadyRunningError';
}

export type InstanceLock = {
  /** Writes the address beside the data, so that a second start can report it. */
  announce(url: string): Promise<void>;
  /** Takes the lock again after a restart of the server. Call it before another command can find the server unused. */
  renew(): void;
  /** Releases the lock. Before that, stops the server when no other process uses it. */
  leave(stopServer: () => Promise<void>): Promise<void>;
};

/**
 * Takes a lock on an embedded database. The process that serves the shop has an exclusive lock. Commands that run at
 * the same time have a shared lock. The last process that leaves stops the server. The locks belong to a session: they
 * end with the process, also after
 * kill -9, so a stale lock never prevents a start. Returns null when the lock is not free.
 */
export async function tryInstanceLock(
  databaseUrl: string,
  data: string,
  kind: 'serve' | 'visit',
  onLost?: () => void,
): Promise<InstanceLock | null> {
  const sql = openDatabase(databaseUrl, { max: 1, name: 'tradepost instance', maxLifetimeSeconds: null });
  const file = join(data, 'instance.json');
  const locked = async (call: Promise<readonly { locked: boolean }[]>) => (await call)[0]?.locked === true;
  const exclusive = (key: number) => locked(sql<{ locked: boolean }[]>`select pg_try_advisory_lock(${key}) as locked`);
  try {
    const mine =
      kind === 'serve'
        ? exclusive(serveKey)
        : locked(sql<{ locked: boolean }[]>`select pg_try_advisory_lock_shared(${visitKey}) as locked`);
    if (!(await mine)) {
      await sql.end({ timeout: 1 });
      return null;
    }
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  // The lock ends with its connection. The next query opens a new connection and takes the lock again, unless another
  // process has it.
  const renew = () => {
    if (kind === 'serve')
      exclusive(serveKey).then(
        (held) => held || onLost?.(),
        () => {},
      );
  };
  const watch = setInterval(renew, watchMs);
  watch.unref();
  return {
    renew,
    async announce(url) {
      await writeFile(file, JSON.stringify({ pid: process.pid, url, started_at: new Date().toISOString() }));
    },
    async leave(stopServer) {
      clearInterval(watch);
      try {
        if (kind === 'serve') await rm(file, { force: true });
        else await sql`select pg_advisory_unlock_shared(${visitKey})`;
        // With both locks this process is the last one, and no other can join until the server has ended.
        const last = (kind === 'serve' || (await exclusive(serveKey))) && (await exclusive(visitKey));
        if (last) await stopServer();
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
  };
}

export async function alreadyRunning(data: string): Promise<AlreadyRunningError> {
  const text = await readFile(join(data, 'instance.json'), 'utf8').catch(() => '');
  // The file may be missing or incomplete. The message is then without the address.
  const [, pid] = /"pid":(\d+)/.exec(text) ?? [];
  const [, url] = /"url":"([^"]+)"/.exec(text) ?? [];
  const where = pid && url ? ` (pid ${pid}, ${url})` : '';
  return new AlreadyRunningError(
    `Tradepost is already running on ${data}${where}. Stop it first, or start another shop with another --data and --port. To run parts of one shop in several processes, use an external database (DATABASE_URL).`,
  );
}
