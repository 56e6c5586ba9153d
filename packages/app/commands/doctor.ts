import { join, relative } from 'node:path';
import { findEmbeddedPostgres } from '@tradepost/embedded-postgres';
import {
  type CommandContext,
  declaredBy,
  type Finding,
  findingsOf,
  type Level,
  levels,
  type Module,
  type ModuleCommand,
  messageOf,
  settingsIn,
} from '@tradepost/module';
import { ConfigError, type LoadedConfig, runtimeSettings, selectStoredSettings } from '@tradepost/runtime';
import {
  bold,
  configOf,
  dim,
  exitCodes,
  type GlobalOptions,
  green,
  print,
  printJson,
  progress,
  red,
  withDatabaseOptions,
  yellow,
} from '@tradepost/terminal';
import { checkConfiguration } from '../doctor/check-configuration.ts';
import { checkDataFolder } from '../doctor/check-data-folder.ts';
import { checkDatabase } from '../doctor/check-database.ts';
import { checkDeclared } from '../doctor/check-declared.ts';
import { checkNetwork } from '../doctor/check-network.ts';
import { checkPlatform } from '../doctor/check-platform.ts';
import { checkStore } from '../doctor/check-store.ts';

/** What the options configure: null where it cannot be used, with the reasons as findings. */
function configuration(
  context: CommandContext,
  options: GlobalOptions,
): { chosen: { loaded: LoadedConfig; modules: readonly Module[] } | null; findings: Finding[] } {
  const { findings, error } = findingsOf('configuration');
  try {
    const loaded = configOf(options);
    return { chosen: { loaded, modules: context.modulesOf(loaded.config) }, findings };
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason;
    for (const problem of reason.problems) error(problem, 'correct it: the shop does not start with it');
    return { chosen: null, findings };
  }
}

/** A check that fails itself is a finding, so that the others are still heard. */
async function guarded(area: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  progress(`looking at: ${area}`);
  try {
    return await check();
  } catch (reason) {
    const { findings, error } = findingsOf(area);
    error(`could not be checked: ${messageOf(reason)}`, 'see what is meant; DEBUG=1 shows more of other commands');
    return findings;
  }
}

async function checkAll({ chosen, findings }: ReturnType<typeof configuration>): Promise<Finding[]> {
  const platform = await guarded('platform', () => checkPlatform(chosen?.loaded.config ?? null));
  if (!chosen) return [...findings, ...platform];
  const { loaded, modules } = chosen;
  const { config, sources } = loaded;
  const definitions = [...runtimeSettings, ...declaredBy(modules, 'settings')];
  let unreadable = '';
  const embedded = config.databaseUrl
    ? null
    : await findEmbeddedPostgres(join(config.data, 'postgres')).catch((reason: unknown) => {
        unreadable = messageOf(reason);
        return null;
      });
  const url = config.databaseUrl ?? embedded?.url;
  const database = async (): Promise<Finding[]> => {
    if (url) {
      const asked = await checkDatabase(url, config, async (sql) => {
        const stored = await selectStoredSettings(sql);
        const facts = { config, sources, sql, settings: settingsIn(config, stored, definitions), stored, definitions };
        return checkDeclared(declaredBy(modules, 'doctorChecks'), facts);
      });
      return [...asked.findings, ...(asked.further ?? [])];
    }
    // Starting it could run a recovery or fill a full disk: a doctor changes nothing.
    const { findings: none, note, error } = findingsOf('database');
    const beside = 'tradepost start, and ask again beside it: migrations, settings and jobs are looked at then';
    if (unreadable)
      error(`the embedded database can not be looked at: ${unreadable}`, 'ask as the account that owns it');
    else if (embedded?.state === 'stopped')
      note(`the embedded PostgreSQL is not running (${embedded.dataDirectory})`, beside);
    else note('there is no embedded database yet', beside);
    return none;
  };
  const outside = embedded && relative(config.data, embedded.dataDirectory).startsWith('..');
  return [
    ...(await guarded('configuration', () => checkConfiguration(loaded, definitions))),
    ...platform,
    ...(await guarded('database', database)),
    ...(await guarded('store', () => checkStore(config.redisUrl))),
    ...(await guarded('data folder', () =>
      checkDataFolder(config.data, embedded?.passwordFile ?? null, outside ? embedded.dataDirectory : null),
    )),
    ...(await guarded('network', () => checkNetwork(config))),
  ];
}

const paint: Record<Level, (text: string) => string> = { ok: green, note: dim, warning: yellow, error: red };

const doctor =
  (context: CommandContext) =>
  async (options: GlobalOptions): Promise<void> => {
    const findings = await checkAll(configuration(context, options));
    const counts = Object.fromEntries(
      levels.map((level) => [level, findings.filter((finding) => finding.level === level).length]),
    ) as Record<Level, number>;
    if (counts.error > 0) process.exitCode = exitCodes.failed;
    if (options.json) return printJson({ ok: counts.error === 0, counts, findings });
    let area = '';
    for (const finding of findings) {
      if (finding.area !== area) print(`${area ? '\n' : ''}${bold(finding.area)}`);
      area = finding.area;
      print(`  ${paint[finding.level](finding.level.padEnd(7))}  ${finding.what}`);
      if (finding.todo) print(`           ${dim('->')} ${finding.todo}`);
    }
    print(`\n${counts.error} errors, ${counts.warning} warnings, ${counts.note} notes`);
  };

export const doctorCommand: ModuleCommand = {
  name: 'doctor',
  sort: 540,
  register(program, context) {
    withDatabaseOptions(
      program
        .command('doctor')
        .description(
          'look at configuration, platform, database, store, jobs, warehouse, gateway, disk and port, and say what to do',
        )
        .option('--json', 'print the findings as JSON')
        .addHelpText(
          'after',
          '\nExample:\n  $ tradepost doctor\n\nIt changes and starts nothing: an embedded database that is not running stays so.\n\n' +
            'Exit codes: 0 no errors (warnings and notes there may be), 1 errors.',
        ),
    ).action(doctor(context));
  },
};
