import { isoInZone } from '@tradepost/core';
import { type DoctorCheck, messageOf } from '@tradepost/module';
import { timeZone } from '@tradepost/runtime';
import { bucketAccount } from './places/bucket-account.ts';
import { openPlace } from './places/open-place.ts';
import { selectLatestRuns } from './schedule/run-store.ts';
import { destination, everyHours } from './schedule/settings.ts';

const hourMs = 3_600_000;

/** Checks that backups are made on schedule, and that the last one is not too old. */
export const backupCheck: DoctorCheck = {
  area: { name: 'backups', sort: 46 },
  async check({ config, settings, sql }, { ok, note, warning, error }) {
    const to = settings.get(destination);
    if (to === '') {
      (config.production ? warning : note)(
        'backups/not-scheduled',
        'no backups are made on schedule',
        `tradepost settings set ${destination.key} /var/backups/shop, or s3://bucket/prefix`,
      );
      return;
    }
    const place = openPlace(to, bucketAccount(settings), config.data);
    await place
      .check()
      .catch((reason: unknown) =>
        error(
          'backups/unwritable',
          `backups cannot be written to ${place.location}: ${messageOf(reason)}`,
          `check the folder, or the address and the keys of the bucket: tradepost settings list backup.`,
        ),
      );
    const { done, failed } = await selectLatestRuns(sql);
    const zone = settings.get(timeZone);
    if (failed && (!done || failed.started_at > done.started_at))
      error(
        'backups/failed',
        `the last backup failed at ${isoInZone(failed.started_at, zone)}: ${failed.error}`,
        'correct it; the worker tries again every half hour. tradepost backup create makes one now',
      );
    const late = done && Date.now() - done.ended_at.getTime() > 2 * settings.get(everyHours) * hourMs;
    if (late)
      error(
        'backups/late',
        `the last complete backup on schedule ended at ${isoInZone(done.ended_at, zone)}`,
        'run a worker: tradepost start --only worker',
      );
    else if (done)
      ok(`the last complete backup on schedule ended at ${isoInZone(done.ended_at, zone)}, in ${place.location}`);
    else
      note(
        'backups/none-yet',
        'no backup on schedule has been made yet',
        'a worker makes it within five minutes; tradepost backup create makes one now',
      );
  },
};
