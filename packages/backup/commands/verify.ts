import { type CommandContext, declaredBy } from '@tradepost/module';
import { auditPassed } from '@tradepost/runtime';
import {
  bold,
  configOf,
  databaseOptions,
  exitCodes,
  type GlobalOptions,
  green,
  print,
  printJson,
  red,
  stopSignal,
  withDatabaseOptions,
  withProgress,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { openBackup } from '../places/open-place.ts';
import { withBackup } from '../restore/read-parts.ts';
import { verifyBackup, verifyChecksums } from '../verify/verify-backup.ts';
import { placeOf } from './place-of.ts';
import { placesHelp } from './places-help.ts';
import { restoreLine } from './restore.ts';

type VerifyOptions = GlobalOptions & { checksums?: boolean };

const verify =
  (context: CommandContext) =>
  async (given: string | undefined, { checksums, ...options }: VerifyOptions): Promise<void> => {
    const { config } = configOf(databaseOptions(options));
    const { place, base, account } = await placeOf(context, given, options);
    await withBackup(openBackup(place, account, base), async (backup) => {
      const { location, manifest } = backup;
      const facts = { location, snapshot_at: manifest.snapshot_at, program: manifest.program };
      if (checksums) {
        let parts = 0;
        const line = () => `${parts} of ${manifest.parts.length} parts read`;
        await withProgress(line, () =>
          verifyChecksums(backup, () => {
            parts += 1;
          }),
        );
        if (options.json) return printJson({ ok: true, ...facts, parts, checks: [] });
        return print(`${green('complete')}: ${location}, ${parts} parts with the right checksums`);
      }
      let line = '';
      const stop = stopSignal();
      const results = await withProgress(
        () => line,
        () =>
          verifyBackup(backup, {
            signal: stop.signal,
            ...{ serverUrl: config.databaseUrl, audits: declaredBy(context.modulesOf(config), 'audits') },
            onProgress(progress) {
              line = restoreLine(progress);
            },
            onResult({ name }) {
              line = `audit: ${name}`;
            },
          }),
      ).finally(stop.release);
      const failed = results.filter((result) => !auditPassed(result));
      if (failed.length > 0) process.exitCode = exitCodes.failed;
      const ok = failed.length === 0;
      if (options.json) return printJson({ ok, ...facts, parts: manifest.parts.length, checks: results });
      for (const { name, about, total, error } of failed)
        print(`${bold(name)}: ${about}: ${error ?? `${total.toLocaleString('en')} rows`}`);
      if (ok)
        print(
          `${green('restorable')}: ${location} was restored into a temporary database, ${results.length} checks are clean`,
        );
      else print(red(`${failed.length} of ${results.length} checks failed in the restored database`));
    });
  };

export function addVerify(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('verify')
      .argument(
        '[place]',
        'file, folder or s3://bucket/prefix; of several backups the newest complete one; default: the setting backup.destination',
      )
      .description('check a backup: its checksums, a restore into a temporary database, and the audits there')
      .option('--checksums', 'only read the backup and compare the checksums')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        `\nExample:\n  $ tradepost backup verify /var/backups/shop${placesHelp}\n\nThe temporary database is on the server of DATABASE_URL, otherwise in a temporary embedded PostgreSQL. It is removed at the end; what a killed command has left, by the next one and by a worker.\n\nChecks of late and failed work are left out: such work is a fault of the shop and not of the backup. \`audit\` finds it.\n\nExit code 1 when the backup is damaged, or when a check finds rows.`,
      ),
  ).action(verify(context));
}
