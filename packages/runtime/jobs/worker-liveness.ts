import { Client } from 'pg';
import type { Log } from '../observability/log.ts';
import { deleteWorkers, holdWorkerLock, ownsSession, saveWorkers, unlockJobsOfEndedWorkers } from './worker-store.ts';

/** The interval of heartbeats. */
const beatMs = 5_000;
/** The interval at which every worker searches for ended workers. */
const sweepMs = 10_000;

export type Liveness = {
  /** Registers pools. Call it before they claim a job: only the end of a registered pool is noticed. */
  register(poolIds: readonly string[]): Promise<void>;
  /** Removes pools that have ended and hold no job. */
  forget(poolIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

type Session = { client: Client; holdsLock: boolean; locked: Set<string> };

/** A database session that is opened at its first use, and again after a failure. Its uses run one after the other. */
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
    // The process id of the protocol is not in the types.
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
 * Writes the heartbeats of this worker, and unlocks the jobs of workers that have ended. A session of its own holds an
 * advisory lock per pool: a paused process keeps the lock, and an ended process has lost it. Behind a transaction
 * pooler clients share sessions, so only the time of the last heartbeat counts.
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
      const { workers, jobs } = await unlockJobsOfEndedWorkers(client);
      if (workers.length > 0) log.warn({ workers, jobs }, 'workers have ended: their jobs are unlocked');
    });
  const quietly = (work: () => Promise<void>) => () => {
    if (closing) return;
    work().catch((error: unknown) => log.warn({ err: error }, 'worker: its heartbeat could not be written'));
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
