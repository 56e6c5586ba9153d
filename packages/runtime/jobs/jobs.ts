import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Statement, Transaction } from '@tradepost/postgres';
import {
  type Job as GraphileJob,
  Logger,
  parseCronItems,
  type Runner,
  type RunnerOptions,
  run,
  runOnce,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import { Client, Pool } from 'pg';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type Liveness, openLiveness } from './worker-liveness.ts';
import { freeJobsOf } from './worker-store.ts';

export type Job = {
  task: string;
  payload: unknown;
  /** Not before this moment; at once when absent. */
  runAt?: Date;
  /** At most one waiting job per key: a later one takes its place. */
  key?: string;
  maxAttempts?: number;
};

/** Handlers check their payload and are safe to run twice: a worker can die between the work and its record. */
export type TaskHandler = (payload: unknown, context: TaskContext) => Promise<void>;
/** `signal`: the time to finish is over. `stopping`: it has begun, take on no more. */
type TaskContext = { log: Log; signal: AbortSignal; stopping?: AbortSignal };
export type Tasks = Readonly<Record<string, TaskHandler>>;
/** `match` is a crontab pattern in UTC. */
export type Cron = { task: string; match: string };

const defaultMaxAttempts = 10;

/** Enqueues on the caller's transaction: the jobs exist exactly when the transaction commits. */
export function enqueueJobs(tx: Transaction, jobs: readonly Job[]): Statement {
  const rows = jobs.map((job) => ({
    task: job.task,
    payload: job.payload ?? {},
    run_at: job.runAt?.toISOString() ?? null,
    key: job.key ?? null,
    max_attempts: job.maxAttempts ?? defaultMaxAttempts,
  }));
  return tx`
    select graphile_worker.add_job(
      j.task, j.payload::json, run_at => j.run_at, max_attempts => j.max_attempts, job_key => j.key)
    from jsonb_to_recordset(${tx.json(rows as never)})
      as j (task text, payload jsonb, run_at timestamptz, key text, max_attempts int)`;
}

/** graphile-worker's log lines, in ours. Their meta holds whole jobs with payloads that are nobody's to read. */
function workerLogger(log: Log): Logger {
  return new Logger(() => (level, message, meta) => {
    const { job, error, duration } = (meta ?? {}) as { job?: GraphileJob; error?: unknown; duration?: number };
    const line = {
      ...(job ? { task: job.task_identifier, job: job.id } : {}),
      ...(error !== undefined ? { err: error } : {}),
      ...(duration !== undefined ? { duration } : {}),
    };
    // graphile-worker's own text for a failed job repeats the error, which `err` holds as it may be logged.
    if (level === 'error') log.error(line, job && error !== undefined ? 'a job failed' : message);
    else if (level === 'warning') log.warn(line, message);
    else log.debug(line, message);
  });
}

export type WorkerDeps = {
  url: string;
  tasks: Tasks;
  concurrency: number;
  log: Log;
  metrics: Metrics;
  shutdownMs: number;
};

type Helpers = { abortSignal?: AbortSignal | undefined; job: { id: string } };

/** Our handlers as graphile-worker wants them: with a log of their own, counted. */
function taskListOf({ tasks, log, metrics }: WorkerDeps, stopping: AbortSignal): TaskList {
  const entries = Object.entries(tasks).map(([task, handle]) => {
    const run = async (payload: unknown, helpers: Helpers) => {
      const signal = helpers.abortSignal ?? new AbortController().signal;
      try {
        await handle(payload, { log: log.child({ task, job: helpers.job.id }), signal, stopping });
        metrics.jobs.inc({ task, result: 'done' });
      } catch (error) {
        metrics.jobs.inc({ task, result: 'failed' });
        // graphile-worker logs the failure and keeps it with the job; rethrowing makes it try again.
        throw error;
      }
    };
    return [task, run] as const;
  });
  return Object.fromEntries(entries) as unknown as TaskList;
}

/** A run of graphile-worker's: its pool is known to the other workers before it takes a job. */
function announcedRun(liveness: Liveness) {
  const lockedBy: string[] = [];
  const events: WorkerEvents = new EventEmitter();
  events.on('pool:create', ({ workerPool }) => lockedBy.push(workerPool.id));
  const startWorker = () => liveness.register(lockedBy);
  const plugin = { name: 'announced-run', version: '1.0.0', worker: { hooks: { startWorker } } };
  return { lockedBy, events, plugin };
}

const sharedOptions = (deps: WorkerDeps, pgPool: Pool, stopping: AbortSignal) => ({
  pgPool,
  concurrency: deps.concurrency,
  noHandleSignals: true,
  gracefulShutdownAbortTimeout: deps.shutdownMs,
  logger: workerLogger(deps.log),
  taskList: taskListOf(deps, stopping),
  // In batches, even of one turn, as only then a stop waits until the results are recorded; else a job that ends while
  // the worker stops stays locked for hours and runs again, and a record that fails is an unhandled rejection.
  worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 },
});

/** A pool of our own: graphile-worker's would outlive its stop, and crash the process when the database goes first. */
function openPool({ url, concurrency, log }: WorkerDeps): Pool {
  const pool = new Pool({ connectionString: url, max: concurrency + 2, application_name: 'tradepost worker' });
  const lost = (error: Error) => log.warn({ err: error }, 'worker: a database connection was lost');
  pool.on('error', lost);
  pool.on('connect', (client) => client.on('error', lost));
  return pool;
}

/**
 * Frees all locked jobs at once. Only for whoever knows that no other worker runs: the server of an embedded database, which is
 * alone on it. Elsewhere the workers find by themselves which of them is gone (worker-liveness.ts).
 */
export async function unlockJobs(url: string): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'tradepost worker' });
  await client.connect();
  await freeJobsOf(client, null).finally(() => client.end());
}

/** Gives back what a pool of ours that has ended had in hand; else nobody takes it for four hours. */
async function giveBackJobs(pool: Pool, { lockedBy }: RunningPool): Promise<void> {
  await freeJobsOf(pool, lockedBy);
}

/** `ended` also when nobody asked for it. */
type RunningPool = { runner: Runner; lockedBy: string[]; ended: Promise<void> };

async function openRunner(
  { worker, ...options }: ReturnType<typeof sharedOptions> & RunnerOptions,
  liveness: Liveness,
): Promise<RunningPool> {
  const { lockedBy, events, plugin } = announcedRun(liveness);
  const ending = Promise.withResolvers<void>();
  // Its promise alone does not tell: when the database goes it may never be settled.
  events.on('pool:gracefulShutdown', () => ending.resolve());
  const runner = await run({ ...options, events, preset: { worker, plugins: [plugin] } });
  return { runner, lockedBy, ended: Promise.race([ending.promise, runner.promise.catch(() => {})]) };
}

/** Pauses between two attempts to start again what has ended. */
const [shortestPauseMs, longestPauseMs] = [500, 5_000];

export type Worker = { stop(): Promise<void> };

/**
 * Runs jobs as they become due until it is stopped; stopping waits for the running ones. graphile-worker ends when it can not
 * record how a job went, as when the database is started again meanwhile: then another one takes its place.
 */
export async function startWorker(deps: WorkerDeps & { crons: readonly Cron[] }): Promise<Worker> {
  const crons = deps.crons.map(({ task, match }) => ({
    task,
    match,
    identifier: task,
    options: { backfillPeriod: 0 },
  }));
  const pool = openPool(deps);
  const stopping = new AbortController();
  const { signal } = stopping;
  const options = {
    ...sharedOptions(deps, pool, signal),
    pollInterval: 1_000,
    parsedCronItems: parseCronItems(crons),
  };
  const liveness = openLiveness(deps);
  let current = await openRunner(options, liveness).catch(async (error: unknown) => {
    await liveness.close();
    await pool.end();
    throw error;
  });

  const startAgain = async (): Promise<void> => {
    const before = current;
    // What it still runs goes on; its cron does not.
    before.runner.stop().catch(() => {});
    for (let pause = shortestPauseMs; !signal.aborted; pause = Math.min(pause * 2, longestPauseMs)) {
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await giveBackJobs(pool, before);
        await liveness.forget(before.lockedBy);
        current = await openRunner(options, liveness);
        return deps.log.info('the worker runs again');
      } catch (error) {
        deps.log.warn({ err: error }, 'the worker can not be started again yet');
      }
    }
  };
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await current.ended;
      if (signal.aborted) return;
      deps.log.error('the worker has ended, and is started again');
      await startAgain();
    }
  };
  const watching = watch();
  const stopCurrent = () => current.runner.stop().catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await stopCurrent();
      await watching;
      // It may have been started again in this very moment.
      await stopCurrent();
      await liveness.close();
      await pool.end();
    },
  };
}

/** Runs what is due now, and ends. */
export async function runDueJobs(deps: WorkerDeps): Promise<void> {
  const pool = openPool(deps);
  const liveness = openLiveness(deps);
  try {
    const { worker, ...options } = sharedOptions(deps, pool, new AbortController().signal);
    const { events, plugin } = announcedRun(liveness);
    await runOnce({ ...options, events, preset: { worker, plugins: [plugin] } });
  } finally {
    await liveness.close();
    await pool.end();
  }
}
