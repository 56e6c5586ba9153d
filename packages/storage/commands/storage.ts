import { type CommandContext, type RegisterCommand, staticEntriesOf } from '@tradepost/module';
import {
  exitCodes,
  type GlobalOptions,
  listOf,
  print,
  printJson,
  progress,
  table,
  withDatabaseOptions,
  withProgress,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { storageDrivers } from '../drivers/driver.ts';
import { openDrivers } from '../drivers/open-drivers.ts';
import { reportedPaths } from '../limits.ts';
import { fileReferences } from '../references/file-references.ts';
import { forgetReferences } from '../references/reference-store.ts';
import { type Sweep, sweepFiles } from '../references/sweep-files.ts';
import { unreferencedDays } from '../settings.ts';
import { cleanUp } from '../uploads/clean-up.ts';

type SweepOptions = GlobalOptions & { dryRun?: boolean; forget?: string };

const shownPaths = 20;

function report(sweep: Sweep, dryRun: boolean): void {
  if (sweep.outcome === 'switched_off') {
    print(`nothing is removed: ${unreferencedDays.key} is 0`);
    return;
  }
  if (sweep.outcome === 'blocked') {
    print(`nothing is removed: packages that have referred to files do not run: ${sweep.missing.join(', ')}`);
    print('switch their modules on (TRADEPOST_MODULES); or, when their tables no longer exist, use --forget <names>');
    return;
  }
  const { examined, unreferenced, expired, bytes } = sweep;
  if (expired.length > 0)
    print(
      table([
        ['DRIVER', 'PATH', 'BYTES'],
        ...expired.slice(0, shownPaths).map(({ driver, path, size }) => [driver, path, String(size)]),
      ]),
    );
  if (expired.length > shownPaths) print(`and ${expired.length - shownPaths} more`);
  print(`${unreferenced} of ${examined} files are unreferenced`);
  print(`${expired.length} of them ${dryRun ? 'would be' : 'were'} removed (${bytes} bytes)`);
}

const sweepAction = (context: CommandContext) => async (options: SweepOptions) => {
  const { dryRun = false, forget, json, ...database } = options;
  let examined = 0;
  const sweep = await context.withRuntime(
    database,
    async (runtime) => {
      const entries = staticEntriesOf(context.modulesOf(runtime.config));
      const deps = { runtime, drivers: openDrivers(runtime, entries(storageDrivers)) };
      if (forget !== undefined) {
        const forgotten = await forgetReferences(runtime.sql, listOf(forget));
        progress(`forgotten: ${forgotten.join(', ') || 'nothing: no such package is recorded'}`);
      }
      if (!dryRun) await cleanUp(deps);
      return withProgress(
        () => `${examined} files examined`,
        () =>
          sweepFiles(deps, entries(fileReferences), {
            dryRun,
            onProgress: (count) => {
              examined = count;
            },
          }),
      );
    },
    { isBackground: true },
  );
  if (json)
    printJson({
      ...sweep,
      dry_run: dryRun,
      total: sweep.expired.length,
      expired: sweep.expired.slice(0, reportedPaths),
    });
  else report(sweep, dryRun);
  if (sweep.outcome === 'blocked') process.exitCode = exitCodes.failed;
};

function addSweep(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('sweep')
      .description(
        'remove files that no package has referred to for the days of storage.unreferenced_days, and leftovers of interrupted uploads',
      )
      .option('--dry-run', 'list the files and remove nothing')
      .option('--forget <names>', 'forget these packages, comma-separated, whose tables no longer exist')
      .option('--json', `print the result as JSON, with at most ${reportedPaths} files`)
      .addHelpText(
        'after',
        '\nExample:\n  $ tradepost storage sweep --dry-run\n\nExit code 1 when files cannot be removed, or when a package that has referred to files does not run.',
      ),
  ).action(sweepAction(context));
}

export const register: RegisterCommand = (command, context) => {
  addSweep(command, context);
};
