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

/** A session of its own, opened when it is used and again after a failure. One use runs after the other. */
class WorkerSession {
  readonly #url: string;
  #session: Session | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const next = this.#last.then(async () => {
      const current = this.#session ?? (await this.#open());
      return work(current).catch(async (error: unknown) => {
        this.#session = null;
        await current.client.end().catch(() => {});
        throw error;
      });
    });
    this.#last = next.catch(() => {});
    return next;
  }

  /** Resolves when the last use has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async close(): Promise<void> {
    await this.#session?.client.end().catch(() => {});
    this.#session = null;
  }

  async #open(): Promise<Session> {
    const client = new Client({
      connectionString: this.#url,
      application_name: 'tradepost worker liveness',
      connectionTimeoutMillis: 5_000,
      query_timeout: 10_000,
      keepAlive: true,
    });
    client.on('error', () => {
      if (this.#session?.client === client) this.#session = null;
    });
    await client.connect();
    // Of the protocol; not in the types.
    const { processID } = client as unknown as { processID: number | null };
    const holdsLock = await ownsSession(client, processID).catch(async (error: unknown) => {
      await client.end().catch(() => {});
      throw error;
    });
    this.#session = { client, holdsLock, locked: new Set() };
    return this.#session;
  }
}

/**
 * Tells the other workers that this one lives, and frees the jobs of those that do not. A session of its own holds an advisory
 * lock per pool: a process that is paused keeps it, one that died has lost it. Behind a transaction pooler, where a session
 * belongs to nobody, only the time of the last beat counts.
 */
export function openLiveness({ url, log }: { url: string; log: Log }): Liveness {
  const ids = new Set<string>();
  const session = new WorkerSession(url);
  let closing = false;

  const beat = () =>
    session.use(async ({ client, holdsLock, locked }) => {
      if (holdsLock)
        for (const id of ids) {
          if (!locked.has(id)) await holdWorkerLock(client, id);
          locked.add(id);
        }
      await saveWorkers(client, [...ids], holdsLock);
    });
  const sweep = () =>
    session.use(async ({ client }) => {
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
      await session.use(({ client }) => deleteWorkers(client, poolIds));
    },
    async close() {
      closing = true;
      for (const timer of timers) clearInterval(timer);
      await session.idle();
      if (ids.size > 0) await session.use(({ client }) => deleteWorkers(client, [...ids])).catch(() => {});
      await session.close();
    },
  };
}
