import type { Sql } from '@tradepost/postgres';
import type { Log } from '../observability/log.ts';
import { defineMetrics, type Metrics } from '../observability/metrics.ts';
import { type JobCounts, selectJobCounts } from './job-store.ts';

/** Scrapes within this time get the same numbers, however many processes ask. */
const freshMs = 5_000;
const timeoutMs = 1_000;

const jobMetrics = defineMetrics(({ counter, gauge }) => ({
  due: gauge({ name: 'jobs_due', help: 'Jobs of the shop that wait and are due', flushed: true }),
  running: gauge({ name: 'jobs_running', help: 'Jobs of the shop that run', flushed: true }),
  failed: gauge({ name: 'jobs_failed', help: 'Jobs of the shop that have used all attempts', flushed: true }),
  oldestDue: gauge({
    name: 'jobs_oldest_due_seconds',
    help: 'How long the oldest due job has waited; 0 when no job is due',
    flushed: true,
  }),
  workers: gauge({
    name: 'jobs_worker_connections',
    help: 'Database connections of all workers of the shop; 0 when no worker runs',
    flushed: true,
  }),
  unread: counter({ name: 'jobs_unread_total', help: 'Scrapes for which the jobs could not be counted in time' }),
}));

/**
 * Counts the jobs of the shop when the metrics are read: one query at a time, at most one in five seconds, at most a second long.
 * When it fails, the numbers are absent instead of old.
 */
export function exposeJobs({ sql, metrics, log }: { sql: Sql; metrics: Metrics; log: Log }): void {
  const { due, running, failed, oldestDue, workers, unread } = jobMetrics(metrics);
  const show = (counts: JobCounts) => {
    due.set(counts.due);
    running.set(counts.running);
    failed.set(counts.failed);
    workers.set(counts.workers);
    oldestDue.set(counts.oldest_due ? Math.max(0, (Date.now() - counts.oldest_due.getTime()) / 1000) : 0);
  };
  const read = async (): Promise<void> => {
    try {
      const counts = await sql.begin('read only', async (tx) => {
        await tx`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
        return selectJobCounts(tx);
      });
      show(counts);
    } catch (error) {
      unread.inc();
      log.debug({ err: error }, 'the jobs could not be counted');
      for (const gauge of [due, running, failed, oldestDue, workers]) gauge.remove();
    }
  };
  let reading: Promise<void> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  metrics.beforeRead.add(() => {
    if (reading === null && performance.now() - readAt >= freshMs)
      reading = read().finally(() => {
        readAt = performance.now();
        reading = null;
      });
    return reading;
  });
}
