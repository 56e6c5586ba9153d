import { type CommandContext, declaredBy, settingsIn, staticEntriesOf } from '@tradepost/module';
import type { Sql } from '@tradepost/postgres';
import {
  type Config,
  openDatabaseServer,
  openLog,
  openSecrets,
  openStored,
  secretsKeyFileOf,
  selectStoredSettings,
} from '@tradepost/runtime';
import { openStoredFiles, storageDrivers } from '@tradepost/storage';
import {
  commandName,
  configOf,
  databaseOptions,
  type GlobalOptions,
  print,
  printJson,
  progress,
  stopSignal,
  withDatabaseOptions,
  withProgress,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { rowsOf } from '../format/manifest.ts';
import { bucketAccount } from '../places/bucket-account.ts';
import { openBackup } from '../places/open-place.ts';
import { type OpenedBackup, withBackup } from '../restore/read-parts.ts';
import { type RestoreProgress, restoreBackup } from '../restore/restore-backup.ts';
import { type RestoredFiles, restoreFiles } from '../restore/restore-files.ts';
import { placesHelp } from './places-help.ts';

type RestoreCommandOptions = GlobalOptions & { uploads: boolean };

export const restoreLine = ({ step, rows, of }: RestoreProgress): string =>
  step === 'rows' ? `${rows.toLocaleString('en')} of ${of.toLocaleString('en')} rows` : step;

/** Writes the uploaded files with the settings of the restored shop. `problem`: why its secrets cannot be read. */
async function restoreUploads(context: CommandContext, config: Config, backup: OpenedBackup, sql: Sql) {
  const definitions = context.settingsOf(config);
  const secrets = openSecrets({ sql, file: secretsKeyFileOf(config), log: openLog({ level: 'silent' }) });
  const hidden = new Set(
    declaredBy(context.modules, 'settings')
      .filter(({ secret }) => secret)
      .map(({ key }) => key),
  );
  const stored = openStored(secrets, await selectStoredSettings(sql), (key) => hidden.has(key));
  const settings = settingsIn(config, stored, definitions);
  const entries = staticEntriesOf(context.modulesOf(config));
  const files = await restoreFiles(backup, openStoredFiles({ config, settings }, entries(storageDrivers)));
  return { files, problem: (await secrets.status()).problem };
}

const nothing: RestoredFiles = { written: 0, present: 0, failed: 0, reasons: [] };

const restore =
  (context: CommandContext) =>
  async (place: string, { uploads, ...options }: RestoreCommandOptions): Promise<void> => {
    const { config } = configOf(databaseOptions(options));
    const log = openLog({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
    await withBackup(openBackup(place, bucketAccount(settingsIn(config, []))), async (backup) => {
      const server = await openDatabaseServer({ config, serve: true, onProgress: progress }, log);
      let done: { files: RestoredFiles; problem: string | null } = { files: nothing, problem: null };
      const stop = stopSignal();
      try {
        let line = '';
        await withProgress(
          () => line,
          () =>
            restoreBackup(backup, {
              ...{ url: server.url, signal: stop.signal },
              onProgress(at) {
                line = restoreLine(at);
              },
              onLeftover: () => progress('an interrupted restore is removed; the restore begins again'),
              async restoreUploads(sql) {
                const parts = uploads ? backup.manifest.parts : [];
                const wanted = { ...backup, manifest: { ...backup.manifest, parts } };
                done = await restoreUploads(context, config, wanted, sql);
              },
            }),
        );
      } finally {
        stop.release();
        await server.close();
      }
      const { location, manifest } = backup;
      const { files, problem } = done;
      const rows = rowsOf(manifest);
      if (options.json)
        return printJson({
          ...{ location, snapshot_at: manifest.snapshot_at, program: manifest.program, rows },
          ...{ uploads: files, secrets_problem: problem },
        });
      print(`restored ${rows.toLocaleString('en')} rows of ${manifest.snapshot_at} from ${location}`);
      print(`uploaded files: ${files.written} written, ${files.present} were there, ${files.failed} not written`);
      for (const reason of files.reasons) print(`  ${reason}`);
      if (problem) print(`stored secrets: ${problem}`);
      print(`next: ${commandName()} audit --at ${manifest.snapshot_at}, then ${commandName()} doctor`);
    });
  };

export function addRestore(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('restore')
      .argument('<place>', 'file, folder or s3://bucket/prefix; of several backups the newest complete one')
      .description('restore a backup into an empty database, and bring it to this version')
      .option('--no-uploads', 'do not write the uploaded files')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        `\nExamples:\n  $ tradepost backup restore shop.tar --data restored\n  $ createdb shop_restored\n  $ DATABASE_URL=postgres://shop@db/shop_restored tradepost backup restore s3://backups/shop${placesHelp}\n\nA database that is not empty is refused. After an interruption repeat the command: it begins again. No server uses the database before the restore has ended. Put the key file of stored secrets in its place before: without it the secrets of the shop cannot be read.`,
      ),
  ).action(restore(context));
}
