import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { inTrace, type Operation } from '../observability/spans.ts';
import { type Cron, traceFlag, type Worker, type WorkerDeps } from './jobs.ts';
import { type Liveness, openLiveness } from './worker-liveness.ts';
import { unlockJobsOf } from './worker-store.ts';

/** Writes the log lines of graphile-worker to our log. Payloads of jobs are left out. */
function workerLogger(log: Log): Logger {
  return new Logger(() => (level, message, meta) => {
    const { job, error, duration } = (meta ?? {}) as { job?: GraphileJob; error?: unknown; duration?: number };
    const line = {
      ...(job ? { task: job.task_identifier, job: job.id } : {}),
      ...(error !== undefined ? { err: error } : {}),
      ...(duration !== undefined ? { duration } : {}),
    };
    // For a failed job the text of graphile-worker repeats the error. `err` has its loggable fields only.
    if (level === 'error') log.error(line, job && error !== undefined ? 'a job failed' : message);
    else if (level === 'warning') log.warn(line, message);
    else log.debug(line, message);
  });
}

type Helpers = {
  abortSignal?: AbortSignal | undefined;
  job: { id: string; flags?: Readonly<Record<string, boolean>> | null };
};

/** The `traceparent` of the request that enqueued the job. */
function traceparentOfJob(flags: Helpers['job']['flags']): string | undefined {
  const flag = Object.keys(flags ?? {}).find((name) => name.startsWith(traceFlag));
  return flag?.slice(traceFlag.length);
}

/** Converts the handlers to the form of graphile-worker. Each run has a log of its own and is counted. */
function taskListOf({ tasks, log, metrics }: WorkerDeps, stopping: AbortSignal): TaskList {
  const entries = Object.entries(tasks).map(([task, handle]) => {
    const attributes = { 'messaging.system': 'graphile_worker', 'messaging.destination.name': task };
    const operation: Operation<void> = { kind: 'consumer', name: task, attributes };
    const run = async (payload: unknown, helpers: Helpers) => {
      const signal = helpers.abortSignal ?? new AbortController().signal;
      try {
        await inTrace(traceparentOfJob(helpers.job.flags), operation, () =>
          handle(payload, { log: log.child({ task, job: helpers.job.id }), signal, stopping }),
        );
        metrics.jobs.inc({ task, result: 'done' });
      } catch (error) {
        metrics.jobs.inc({ task, result: 'failed' });
        // graphile-worker logs the failure, stores it in the job and retries.
        throw error;
      }
    };
    return [task, run] as const;
  });
  return Object.fromEntries(entries) as unknown as TaskList;
}

/** The options for a run of graphile-worker that registers its pool with the other workers before it claims a job. */
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
  // Results are written in batches, because a stop waits only for batches. Without batches, a job that ends during a
  // stop stays locked for hours and runs again, and a failed write is an unhandled rejection.
  worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 },
});

/**
 * A pool of this package. A pool of graphile-worker would stay open after its stop, and end the process when the
 * database ends first.
 */
function openPool({ url, concurrency, log }: WorkerDeps): Pool {
  const pool = new Pool({ connectionString: url, max: concurrency + 2, application_name: 'tradepost worker' });
  const lost = (error: Error) => log.warn({ err: error }, 'worker: a database connection was lost');
  pool.on('error', lost);
  pool.on('connect', (client) => client.on('error', lost));
  return pool;
}

export async function unlockJobs(url: string): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'tradepost worker' });
  await client.connect();
  await unlockJobsOf(client, null).finally(() => client.end());
}

/** `ended` resolves when the run has ended, also when it was not stopped. */
type RunningPool = { runner: Runner; lockedBy: string[]; ended: Promise<void> };

async function openRunner(
  { worker, ...options }: ReturnType<typeof sharedOptions> & RunnerOptions,
  liveness: Liveness,
): Promise<RunningPool> {
  const { lockedBy, events, plugin } = announcedRun(liveness);
  const ending = Promise.withResolvers<void>();
  // Its promise is not enough: when the database ends, it may never settle.
  events.on('pool:gracefulShutdown', () => ending.resolve());
  const runner = await run({ ...options, events, preset: { worker, plugins: [plugin] } });
  return { runner, lockedBy, ended: Promise.race([ending.promise, runner.promise.catch(() => {})]) };
}

/** The pauses between two attempts to start an ended worker again. */
const [shortestPauseMs, longestPauseMs] = [500, 5_000];

/**
 * graphile-worker ends when it cannot store the result of a job, for example during a restart of the database. Then it is
 * started again.
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

  let isRunning = true;
  const startAgain = async (): Promise<void> => {
    const before = current;
    // Its running jobs continue. Its crons stop.
    before.runner.stop().catch(() => {});
    for (let pause = shortestPauseMs; !signal.aborted; pause = Math.min(pause * 2, longestPauseMs)) {
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        // Otherwise the jobs of the ended run stay locked for four hours.
        await unlockJobsOf(pool, before.lockedBy);
        await liveness.forget(before.lockedBy);
        current = await openRunner(options, liveness);
        isRunning = true;
        return deps.log.info('the worker runs again');
      } catch (error) {
        deps.log.warn({ err: error }, 'the worker cannot be started again yet');
      }
    }
  };
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await current.ended;
      if (signal.aborted) return;
      isRunning = false;
      deps.log.error('the worker has ended and is started again');
      await startAgain();
    }
  };
  const watching = watch();
  const stopCurrent = () => current.runner.stop().catch(() => {});
  return {
    isRunning: () => isRunning,
    async stop() {
      stopping.abort();
      await stopCurrent();
      await watching;
      // It may just have been started again.
      await stopCurrent();
      await liveness.close();
      await pool.end();
    },
  };
}

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
