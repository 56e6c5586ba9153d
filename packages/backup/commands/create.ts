import { type CommandContext, staticEntriesOf } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import { openStoredFiles, storageDrivers } from '@tradepost/storage';
import {
  type GlobalOptions,
  print,
  printJson,
  stopSignal,
  withDatabaseOptions,
  withProgress,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import prettyBytes from 'pretty-bytes';
import { type BackupProgress, createBackup } from '../create/create-backup.ts';
import { backupErrors } from '../errors.ts';
import { rowsOf, type UploadChoice } from '../format/manifest.ts';
import { bucketAccount } from '../places/bucket-account.ts';
import { createIn, createInPlace, openPlace } from '../places/open-place.ts';
import { doneRun } from '../schedule/run-scheduled.ts';
import { insertRuns } from '../schedule/run-store.ts';
import { destination } from '../schedule/settings.ts';
import { placesHelp } from './places-help.ts';

type CreateOptions = GlobalOptions & { uploads: UploadChoice };

const number = (value: number) => value.toLocaleString('en');

/** Begins the backup in the given place, or in the destination of the settings, which is a folder or a bucket. */
function placeOf(given: string | undefined, { settings, config }: Runtime, at: Date) {
  const account = bucketAccount(settings);
  if (given !== undefined) return (source: string) => createIn(given, account, { source, at });
  const to = settings.get(destination);
  if (to === '') throw backupErrors.no_destination();
  const place = openPlace(to, account, config.data);
  return (source: string) => createInPlace(place, source, at);
}

async function create(context: CommandContext, runtime: Runtime, given: string | undefined, uploads: UploadChoice) {
  const entries = staticEntriesOf(context.modulesOf(runtime.config));
  const started = runtime.now();
  let at: BackupProgress | null = null;
  const stop = stopSignal();
  try {
    const created = await withProgress(
      () => (at ? `${at.table}: ${number(at.rows)} rows, ${prettyBytes(at.bytes)}, ${number(at.files)} files` : ''),
      () =>
        createBackup({
          ...{ url: runtime.databaseUrl, uploads, signal: stop.signal },
          files: openStoredFiles(runtime, entries(storageDrivers)),
          open: placeOf(given, runtime, started),
          onProgress(progress) {
            at = progress;
          },
        }),
    );
    await insertRuns(runtime.sql, [doneRun(created, started, false)]);
    return created;
  } finally {
    stop.release();
  }
}

export function addCreate(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('create')
      .argument('[place]', 'file, folder or s3://bucket/prefix; default: the setting backup.destination')
      .description('make a backup while the shop runs: all rows in one snapshot, and the uploaded files')
      .addOption(
        new Option('--uploads <which>', 'uploaded files: all, those of this server (local), or none')
          .choices(['all', 'local', 'none'])
          .default('all'),
      )
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        `\nExamples:\n  $ tradepost backup create shop.tar\n  $ tradepost backup create /var/backups/shop/\n  $ tradepost backup create s3://backups/shop${placesHelp}\n\nKeep a copy of the key file of stored secrets in another place: a backup has the secrets encrypted, and not their key.`,
      ),
  ).action(async (given: string | undefined, { uploads, ...options }: CreateOptions) => {
    const created = await context.withRuntime(options, (runtime) => create(context, runtime, given, uploads), {
      isBackground: true,
    });
    const { location, bytes, manifest } = created;
    const { tables, snapshot_at, uploads: files, source } = manifest;
    const rows = rowsOf(manifest);
    if (options.json)
      return printJson({ location, bytes, source, snapshot_at, tables: tables.length, rows, uploads: files });
    print(`${location}: ${number(rows)} rows, ${number(files.files)} files, ${prettyBytes(bytes)}`);
    if (files.missing > 0) print(`${number(files.missing)} uploaded files were missing or damaged`);
  });
}
