import type { Cron, Worker, WorkerDeps } from './jobs.ts';

// graphile-worker and pg are loaded by the first of these calls: a process without a worker does not need them.
const loadWorker = () => import('./worker.ts');

/**
 * Runs due jobs until `stop`, which waits for the running jobs. The worker is started again when it ends by itself, for
 * example during a restart of the database.
 */
export const startWorker = async (deps: WorkerDeps & { crons: readonly Cron[] }): Promise<Worker> =>
  (await loadWorker()).startWorker(deps);

/** Runs the jobs that are due now, then ends. */
export const runDueJobs = async (deps: WorkerDeps): Promise<void> => (await loadWorker()).runDueJobs(deps);

/**
 * Unlocks all locked jobs at once. Only for a caller that knows that no other worker runs: the server of an embedded
 * database. With an external database the workers find ended workers themselves (worker-liveness.ts).
 */
export const unlockJobs = async (url: string): Promise<void> => (await loadWorker()).unlockJobs(url);
