import { AppError } from '@tradepost/core';
import { type Log, type Runtime, startAtZero, timeZone } from '@tradepost/runtime';
import type { StoredFiles } from '@tradepost/storage';
import { backupMetrics } from '../backup-metrics.ts';
import { type CreatedBackup, createBackup } from '../create/create-backup.ts';
import { backupErrors } from '../errors.ts';
import { rowsOf } from '../format/manifest.ts';
import { sourceIn } from '../format/names.ts';
import { bucketAccount } from '../places/bucket-account.ts';
import { createInPlace, openPlace } from '../places/open-place.ts';
import type { Place } from '../places/place.ts';
import { isDue } from './due.ts';
import { type BackupRun, insertRuns, selectLatestRuns } from './run-store.ts';
import { destination, everyHours, keep, time, uploads } from './settings.ts';

type Deps = {
  readonly runtime: Pick<Runtime, 'sql' | 'settings' | 'config' | 'databaseUrl' | 'metrics' | 'now'>;
  readonly files: StoredFiles;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Removes the complete backups of this database beyond the newest `kept`. Those of other shops are not touched. */
async function removeOld(place: Place, source: string, kept: number): Promise<void> {
  const own = (await place.list()).filter(({ name, isComplete }) => isComplete && sourceIn(name) === source);
  await place.remove(own.slice(kept).map(({ name }) => name));
}

export const doneRun = (created: CreatedBackup, started_at: Date, is_scheduled: boolean): BackupRun => ({
  ...{ is_scheduled, started_at, location: created.location, bytes: created.bytes, error: '' },
  ...{ rows: rowsOf(created.manifest), files: created.manifest.uploads.files },
});

async function setGauges({ runtime }: Deps): Promise<void> {
  const { done, failed } = await selectLatestRuns(runtime.sql);
  const { runs, lastSuccess, lastFailure, lastBytes } = backupMetrics(runtime.metrics);
  startAtZero(runs, [{ result: 'done' }, { result: 'failed' }]);
  lastSuccess.set(done ? Math.floor(done.ended_at.getTime() / 1000) : 0);
  lastFailure.set(failed ? Math.floor(failed.started_at.getTime() / 1000) : 0);
  lastBytes.set(done?.bytes ?? 0);
}

/** Makes the backup on schedule when it is due, and removes old ones. A failure is recorded and tried again later. */
export async function runScheduled(deps: Deps): Promise<'off' | 'not_due' | 'running' | 'done' | 'failed'> {
  const { runtime, files, log, signal } = deps;
  const { sql, settings, config, now } = runtime;
  const to = settings.get(destination);
  if (to === '') {
    backupMetrics(runtime.metrics).lastFailure.set(0);
    return 'off';
  }
  const schedule = { time: settings.get(time), everyHours: settings.get(everyHours), timeZone: settings.get(timeZone) };
  await setGauges(deps);
  if (!isDue(now(), schedule, await selectLatestRuns(sql))) return 'not_due';
  const place = openPlace(to, bucketAccount(settings), config.data);
  const started = now();
  let source = '';
  try {
    const created = await createBackup({
      ...{ url: runtime.databaseUrl, files, uploads: settings.get(uploads), signal },
      open(id) {
        source = id;
        return createInPlace(place, id, started);
      },
    });
    await insertRuns(sql, [doneRun(created, started, true)]);
    backupMetrics(runtime.metrics).runs.inc({ result: 'done' });
    log.info({ location: created.location, bytes: created.bytes }, 'a backup was made');
    await removeOld(place, source, settings.get(keep)).catch((error: unknown) =>
      log.warn({ err: error, destination: place.location }, 'old backups could not be removed'),
    );
  } catch (error) {
    if (error instanceof AppError && error.refusal === backupErrors.another_backup.refusal) return 'running';
    // A stop of the process is no fault: the next worker makes the backup.
    if (signal.aborted) return 'failed';
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ err: error, destination: place.location }, 'the backup on schedule failed');
    await insertRuns(sql, [
      { is_scheduled: true, started_at: started, location: place.location, bytes: 0, rows: 0, files: 0, error: reason },
    ]);
    backupMetrics(runtime.metrics).runs.inc({ result: 'failed' });
    await setGauges(deps);
    return 'failed';
  }
  await setGauges(deps);
  return 'done';
}
