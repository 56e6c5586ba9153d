import { Client } from 'pg';
import type { Log } from '../observability/log.ts';
import { deleteWorkers, freeJobsOfGoneWorkers, holdWorkerLock, ownsSession, saveWorkers } from './worker-store.ts';

/** How often a worker says that it lives. */
const beatMs = 5_000;
/** How often every worker looks for others that are gone. */
const sweepMs = 10_000;

export type Liveness = {
  /** Before these pools take a job: a pool that is not known could not be found to be gone. */
  register(poolIds: readonly string[]): Promise<void>;
  /** They have ended, and hold no job. */
  forget(poolIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

type Session = { client: Client; holdsLock: boolean; locked: Set<string> };

/**
 * Tells the other workers that this one lives, and frees the jobs of those that do not. A session of its own holds an advisory
 * lock per pool: a process that is paused keeps it, one that died has lost it. Behind a transaction pooler, where a session
 * belongs to nobody, only the time of the last beat counts.
 */
export function openLiveness({ url, log }: { url: string; log: Log }): Liveness {
  const ids = new Set<string>();
  let session: Session | null = null;
  /** One use of the session after the other. */
  let last: Promise<unknown> = Promise.resolve();
  let closing = false;

  async function open(): Promise<Session> {
    const client = new Client({
      connectionString: url,
      application_name: 'tradepost worker liveness',
      connectionTimeoutMillis: 5_000,
      query_timeout: 10_000,
      keepAlive: true,
    });
    client.on('error', () => {
      if (session?.client === client) session = null;
    });
    await client.connect();
    // Of the protocol; not in the types.
    const { processID } = client as unknown as { processID: number | null };
    const holdsLock = await ownsSession(client, processID).catch(async (error: unknown) => {
      await client.end().catch(() => {});
      throw error;
    });
    session = { client, holdsLock, locked: new Set() };
    return session;
  }
  const use = <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const next = last.then(async () => {
      const current = session ?? (await open());
      return work(current).catch(async (error: unknown) => {
        session = null;
        await current.client.end().catch(() => {});
        throw error;
      });
    });
    last = next.catch(() => {});
    return next;
  };
  const beat = () =>
    use(async ({ client, holdsLock, locked }) => {
      if (holdsLock)
        for (const id of ids) {
          if (!locked.has(id)) await holdWorkerLock(client, id);
          locked.add(id);
        }
      await saveWorkers(client, [...ids], holdsLock);
    });
  const sweep = () =>
    use(async ({ client }) => {
      const { workers, jobs } = await freeJobsOfGoneWorkers(client);
      if (workers.length > 0) log.warn({ workers, jobs }, 'workers are gone: their jobs are free again');
    });
  const quietly = (work: () => Promise<void>) => () => {
    if (closing) return;
    work().catch((error: unknown) => log.warn({ err: error }, 'worker: its news could not be written'));
  };
  const timers = [setInterval(quietly(beat), beatMs), setInterval(quietly(sweep), sweepMs)];
  for (const timer of timers) timer.unref();
  quietly(sweep)();

  return {
    async register(poolIds) {
      if (poolIds.every((id) => ids.has(id))) return;
      for (const id of poolIds) ids.add(id);
      await beat();
    },
    async forget(poolIds) {
      for (const id of poolIds) ids.delete(id);
      await use(({ client }) => deleteWorkers(client, poolIds));
    },
    async close() {
      closing = true;
      for (const timer of timers) clearInterval(timer);
      await last;
      if (ids.size > 0) await use(({ client }) => deleteWorkers(client, [...ids])).catch(() => {});
      await session?.client.end().catch(() => {});
      session = null;
    },
  };
}
