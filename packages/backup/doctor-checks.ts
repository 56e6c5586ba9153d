import { dirname } from 'node:path';
import { isoInZone } from '@tradepost/core';
import { type DoctorCheck, type Findings, messageOf } from '@tradepost/module';
import { timeZone } from '@tradepost/runtime';
import prettyBytes from 'pretty-bytes';
import { bucketAccount } from './places/bucket-account.ts';
import { openPlace } from './places/open-place.ts';
import type { Place } from './places/place.ts';
import { type LatestRuns, selectLatestRuns } from './schedule/run-store.ts';
import { destination, everyHours, keep, time } from './schedule/settings.ts';

const hourMs = 3_600_000;
/** A backup of a shop without products or orders. */
const leastBytes = 2 ** 20;

/** The doctor, which is a command, may write where a unit may not: it cannot find this by a try. */
const onlyBackups = `the units write only to the folder of service print --backups: set ${destination.key} to it, or print the units again with --backups, then systemctl daemon-reload, and restart the worker`;

/** Finds a folder without the space for another backup as large as the last one. */
async function checkSpace(place: Place, done: LatestRuns['done'], { error }: Findings): Promise<void> {
  const free = await place.free();
  const needed = Math.max(done?.bytes ?? 0, leastBytes);
  if (free === null || free >= needed) return;
  const sizeText = (bytes: number) => prettyBytes(bytes, { binary: true });
  error(
    'backups/little-space',
    `only ${sizeText(free)} are free for backups in ${place.location}${done ? `, and the last one has ${sizeText(done.bytes)}` : ''}`,
    `free some space, or keep fewer backups: tradepost settings set ${keep.key} <number>`,
  );
}

/** Checks that backups are made on schedule, and that the last one is not too old. */
export const backupCheck: DoctorCheck = {
  area: { name: 'backups', sort: 46 },
  async check({ config, settings, sql }, findings) {
    const { ok, note, warning, error } = findings;
    const to = settings.get(destination);
    if (to === '') {
      (config.production ? warning : note)(
        'backups/not-scheduled',
        'no backups are made on schedule',
        `tradepost settings set ${destination.key} /var/backups/tradepost, or s3://bucket/prefix`,
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
    await checkSpace(place, done, findings);
    const zone = settings.get(timeZone);
    const hasFailed = failed !== null && (!done || failed.started_at > done.started_at);
    if (hasFailed)
      error(
        'backups/failed',
        `the last backup failed at ${isoInZone(failed.started_at, zone)}: ${failed.error}`,
        `${failed.error.includes('EROFS') ? onlyBackups : 'correct it'}; a worker tries every half hour, and its success ends this finding. tradepost backup create makes one by hand`,
      );
    const isThere = done !== null && dirname(done.location) === place.location.replace(/\/$/, '');
    const late = done && Date.now() - done.ended_at.getTime() > 2 * settings.get(everyHours) * hourMs;
    if (late)
      error(
        'backups/late',
        `the last complete backup on schedule ended at ${isoInZone(done.ended_at, zone)}`,
        'run a worker: tradepost start --only worker',
      );
    else if (isThere)
      ok(`the last complete backup on schedule ended at ${isoInZone(done.ended_at, zone)}: ${done.location}`);
    else if (!hasFailed)
      note(
        'backups/none-yet',
        `no backup on schedule has been made in ${place.location} yet${done ? `; the last one is ${done.location}` : ''}`,
        `a worker makes it within five minutes${done ? ` of ${time.key}` : ''}; tradepost backup create makes one now`,
      );
  },
};
