import type { CommandContext } from '@tradepost/module';
import { type GlobalOptions, print, printJson, table, withDatabaseOptions } from '@tradepost/terminal';
import type { Command } from 'commander';
import prettyBytes from 'pretty-bytes';
import { rowsOf } from '../format/manifest.ts';
import { listedBackups } from '../limits.ts';
import { openPlace } from '../places/open-place.ts';
import type { Place, StoredBackup } from '../places/place.ts';
import { withBackup } from '../restore/read-parts.ts';
import { placeOf } from './place-of.ts';
import { placesHelp } from './places-help.ts';

/** A backup with the facts of its manifest. `problem` says why it cannot be restored. */
async function describe(place: Place, { name, bytes, isComplete }: StoredBackup) {
  const facts = { name, bytes, complete: isComplete, snapshot_at: '', program: '', migration: 0, rows: 0, files: 0 };
  if (!isComplete) return { ...facts, problem: 'not complete' };
  try {
    return await withBackup(place.open(name), async ({ manifest }) => ({
      ...facts,
      ...{ snapshot_at: manifest.snapshot_at, program: manifest.program, migration: manifest.migrations.length },
      ...{ rows: rowsOf(manifest), files: manifest.uploads.files, problem: '' },
    }));
  } catch (error) {
    return { ...facts, problem: (error as Error).message };
  }
}

export function addList(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('list')
      .argument('[place]', 'folder or s3://bucket/prefix; default: the setting backup.destination')
      .description('list the backups in a folder or a bucket, the newest first; also interrupted ones')
      .option('--json', 'print them as JSON')
      .addHelpText('after', `\nExample:\n  $ tradepost backup list /var/backups/shop${placesHelp}`),
  ).action(async (given: string | undefined, options: GlobalOptions) => {
    const { place: text, base, account } = await placeOf(context, given, options);
    const place = openPlace(text, account, base);
    const all = await place.list();
    const backups = [];
    for (const backup of all.slice(0, listedBackups)) backups.push(await describe(place, backup));
    if (options.json) return printJson({ place: place.location, total: all.length, backups });
    print(
      table(
        [
          ['NAME', 'SIZE', 'ROWS', 'FILES', 'PROGRAM', 'PROBLEM'],
          ...backups.map(({ name, bytes, rows, files, program, problem }) => [
            ...[name, prettyBytes(bytes), rows.toLocaleString('en'), files.toLocaleString('en'), program, problem],
          ]),
        ],
        { alignRight: (column) => column > 0 && column < 4 },
      ),
    );
    print(`${backups.length} of ${all.length} backups in ${place.location}`);
  });
}
