import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '@tradepost/postgres';

/** Arbitrary, but the same for every version. */
const serveKey = 7_205_883_102;
const visitKey = 7_205_883_104;
const watchMs = 5_000;

export class AlreadyRunningError extends Error {
  override name = 'AlreadyRunningError';
}

export type InstanceLock = {
  /** Written beside the data so that a second start can say where the first one is. */
  announce(url: string): Promise<void>;
  /** Takes the lock again after the server was started again: before a command beside it can take the server for unused. */
  renew(): void;
  /** Ends the lock; stops the server first when nobody else is using it. */
  leave(stopServer: () => Promise<void>): Promise<void>;
};

/**
 * Who uses an embedded database: one process serves (exclusive), commands beside it visit (shared), and whoever leaves
 * last stops the server. The locks are a session's: they end with the process however that dies, so nothing stale can
 * stop the next start. Answers null when the lock is not to be had now.
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
  // The lock goes with its connection; the next question opens a new one and takes the lock again, unless it is gone.
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
        // With both locks in hand nobody is there, and nobody can come until the server has gone.
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
  // Half written, or not yet: the fact stands without it.
  const [, pid] = /"pid":(\d+)/.exec(text) ?? [];
  const [, url] = /"url":"([^"]+)"/.exec(text) ?? [];
  const where = pid && url ? ` (pid ${pid}, ${url})` : '';
  return new AlreadyRunningError(
    `Tradepost is already running on ${data}${where}. Stop it first, or give this one another --data and --port for another shop; parts of one shop in several processes need an external database (DATABASE_URL).`,
  );
}
