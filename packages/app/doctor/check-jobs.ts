import type { DoctorCheck } from '@tradepost/module';
import { selectJobCounts } from '@tradepost/runtime';
import { numberOf } from '@tradepost/terminal';

const lateMinutes = 5;
const toStart =
  'tradepost start, or beside other processes tradepost start --only worker; as a service the unit tradepost-worker@18082';

export const jobsCheck: DoctorCheck = {
  area: { name: 'jobs', sort: 40 },
  async check({ sql, config }, { ok, note, warning, error }) {
    const { due, oldest_due, failed, running, workers } = await selectJobCounts(sql);
    const minutes = oldest_due ? Math.floor((Date.now() - oldest_due.getTime()) / 60_000) : 0;
    if (workers > 0) ok(`a worker is connected; ${due} due, ${running} running`);
    if (due > 0 && minutes >= lateMinutes)
      error(
        'jobs/late',
        `${numberOf(due, 'job is', 'jobs are')} due, the oldest for ${minutes} min, and ${workers > 0 ? 'the worker is too slow for them' : 'no worker is running'}`,
        workers > 0 ? 'read the log and tradepost jobs list --running; raise WORKER_CONCURRENCY' : toStart,
      );
    else if (workers === 0)
      (config.production ? warning : note)(
        'jobs/no-worker',
        `no worker is running${due > 0 ? `; ${numberOf(due, 'job is', 'jobs are')} due` : ''}: unpaid orders stay open, and messages wait`,
        toStart,
      );
    if (failed > 0)
      warning(
        'jobs/failed',
        `${numberOf(failed, 'job has', 'jobs have')} used all attempts`,
        'tradepost jobs list --failed, then retry or discard them',
      );
  },
};
