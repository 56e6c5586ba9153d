import type { Statement, Transaction } from '@tradepost/postgres';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { currentTrace } from '../observability/trace.ts';

export type Job = {
  task: string;
  payload: unknown;
  /** The job does not run before this time. Default: now. */
  runAt?: Date;
  /** At most one job per key waits. A later job replaces it. */
  key?: string;
  maxAttempts?: number;
  /** Of the jobs that are due, those with the lowest number start first. Default: 0. */
  priority?: number;
};

/** A handler checks its payload, and is safe to run twice: a worker can end between the work and its record. */
export type TaskHandler = (payload: unknown, context: TaskContext) => Promise<void>;
/**
 * `signal` aborts when the time for the shutdown is over. `stopping` aborts when the shutdown begins: start no further
 * work.
 */
type TaskContext = { log: Log; signal: AbortSignal; stopping?: AbortSignal };
export type Tasks = Readonly<Record<string, TaskHandler>>;
/** `match` is a crontab pattern in UTC. */
export type Cron = { task: string; match: string };

const defaultMaxAttempts = 10;

/** A flag of a job that carries the trace of its cause. The payload stays as the handler expects it. */
export const traceFlag = 'traceparent:';

/** Enqueues jobs in the transaction of the caller. The jobs exist exactly when that transaction commits. */
export function enqueueJobs(tx: Transaction, jobs: readonly Job[]): Statement {
  const trace = currentTrace();
  const rows = jobs.map((job) => ({
    task: job.task,
    payload: job.payload ?? {},
    run_at: job.runAt?.toISOString() ?? null,
    key: job.key ?? null,
    max_attempts: job.maxAttempts ?? defaultMaxAttempts,
    priority: job.priority ?? 0,
    flags: trace ? [traceFlag + trace.header()] : null,
  }));
  return tx`
    select graphile_worker.add_job(
      j.task, j.payload::json, run_at => j.run_at, max_attempts => j.max_attempts, job_key => j.key,
      priority => j.priority, flags => j.flags)
    from jsonb_to_recordset(${tx.json(rows as never)})
      as j (task text, payload jsonb, run_at timestamptz, key text, max_attempts int, priority int, flags text[])`;
}

export type WorkerDeps = {
  url: string;
  tasks: Tasks;
  concurrency: number;
  log: Log;
  metrics: Metrics;
  shutdownMs: number;
};

export type Worker = {
  stop(): Promise<void>;
  /** False while the worker has ended by itself and is not yet started again. */
  isRunning(): boolean;
};
