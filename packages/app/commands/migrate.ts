import type { RegisterCommand } from '@tradepost/module';
import { openLog } from '@tradepost/runtime';
import {
  configOf,
  exitCodes,
  type GlobalOptions,
  numberOf,
  print,
  printJson,
  progress,
  UsageError,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { upgradeEmbedded } from '../embedded-upgrade/upgrade-embedded.ts';
import { checkDatabaseVersion, databaseName, printPlan } from './migrate-plan.ts';

type MigrateCommandOptions = GlobalOptions & { plan?: boolean; check?: boolean };

/** Brings an embedded database to the major version of PostgreSQL that is installed. */
async function upgradeDatabase(options: GlobalOptions): Promise<void> {
  const { config } = configOf(options);
  await upgradeEmbedded(config, openLog({ level: config.logLevel === 'info' ? 'warn' : config.logLevel }), progress);
}

/** The names of a few migrations, or the first and the last of many. */
const namesOf = (applied: readonly string[]): string =>
  applied.length <= 5 ? applied.join(', ') : `${applied[0]} to ${applied.at(-1)}`;

export const register: RegisterCommand = (command, context) => {
  withDatabaseOptions(
    command
      .option('--plan', 'only list the migrations that would be applied; change nothing')
      .option('--check', 'only say whether the database is exactly at this version; change nothing')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost migrate --plan\n  $ tradepost migrate --database-url postgres://shop@db/shop\n  $ tradepost migrate --check && systemctl restart tradepost-api@8080\n\nProcesses of the release before may run meanwhile, unless the plan has a contract step: then all processes are of the release\nthat the plan names, or newer.\n\nExit codes: 0 done, or the database is at this version; 1 failed, or --check found that it is not; 2 wrong usage.',
      ),
  ).action(async ({ plan, check, ...options }: MigrateCommandOptions) => {
    if (plan && check) throw new UsageError('give --plan or --check, not both');
    if (plan) return printPlan(context, options);
    if (check) {
      if (!(await checkDatabaseVersion(options))) process.exitCode = exitCodes.failed;
      return;
    }
    await upgradeDatabase(options);
    await context.withRuntime(
      options,
      async (runtime) => {
        const { applied, total } = runtime.migrated;
        const database = databaseName(runtime);
        if (options.json) return printJson({ database, ...runtime.migrated });
        if (applied.length === 0) return print(`up to date (${total} migrations): ${database}`);
        print(`applied ${numberOf(applied.length, 'migration')} to ${database}: ${namesOf(applied)}`);
      },
      { mayMigrate: true },
    );
  });
};
