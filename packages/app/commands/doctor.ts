import { join, relative } from 'node:path';
import { findEmbeddedPostgres, findPackage } from '@tradepost/embedded-postgres';
import {
  type CommandContext,
  declaredBy,
  type Finding,
  findingsOf,
  type Level,
  levels,
  type Module,
  messageOf,
  type RegisterCommand,
  settingsIn,
} from '@tradepost/module';
import {
  ConfigError,
  type LoadedConfig,
  openLog,
  openSecrets,
  openStored,
  runtimeSettings,
  type ServerProcess,
  type Setting,
  secretsKeyFileOf,
  selectProcesses,
  selectStoredSettings,
} from '@tradepost/runtime';
import {
  asCalled,
  bold,
  configOf,
  dim,
  exitCodes,
  type GlobalOptions,
  green,
  numberOf,
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

/** Loads the configuration. `chosen` is null when it is invalid; the findings then have the reasons. */
function configuration(
  context: CommandContext,
  options: GlobalOptions,
): {
  chosen: {
    loaded: LoadedConfig;
    modules: readonly Module[];
    settings: readonly Setting[];
    /** Settings of all modules, also of those that are switched off. */
    allSettings: readonly Setting[];
  } | null;
  findings: Finding[];
} {
  const { findings, error } = findingsOf('configuration');
  try {
    const loaded = configOf(options);
    const modules = context.modulesOf(loaded.config);
    const allSettings = declaredBy(context.modules, 'settings');
    return { chosen: { loaded, modules, settings: context.settingsOf(loaded.config), allSettings }, findings };
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason;
    for (const problem of reason.problems)
      error('configuration/invalid', problem, 'correct it: the shop does not start with it');
    return { chosen: null, findings };
  }
}

/** Runs a check. When the check throws, the error becomes a finding, so that the other checks still run. */
async function guarded(area: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  progress(`checking: ${area}`);
  try {
    return await check();
  } catch (reason) {
    const { findings, error } = findingsOf(area);
    error(
      'doctor/not-checked',
      `could not be checked: ${messageOf(reason)}`,
      'see the message; other commands print the stack with DEBUG=1',
    );
    return findings;
  }
}

async function checkAll({ chosen, findings }: ReturnType<typeof configuration>): Promise<Finding[]> {
  const platform = await guarded('platform', () => checkPlatform(chosen?.loaded.config ?? null));
  if (!chosen) return [...findings, ...platform];
  const { loaded, modules, settings, allSettings } = chosen;
  const { config, sources } = loaded;
  const definitions = [...runtimeSettings, ...settings];
  let unreadable = '';
  /** Not known where the database does not answer. */
  let processes: readonly ServerProcess[] | null = null;
  const embedded = config.databaseUrl
    ? null
    : await findEmbeddedPostgres(join(config.data, 'postgres')).catch((reason: unknown) => {
        unreadable = messageOf(reason);
        return null;
      });
  const url = config.databaseUrl ?? embedded?.url;
  const database = async (): Promise<Finding[]> => {
    if (url) {
      const checked = await checkDatabase(url, config, async (sql) => {
        processes = (await selectProcesses(sql)).processes;
        const secrets = openSecrets({ sql, file: secretsKeyFileOf(config), log: openLog({ level: 'silent' }) });
        const hidden = new Set(allSettings.filter(({ secret }) => secret).map(({ key }) => key));
        const stored = openStored(secrets, await selectStoredSettings(sql), (key) => hidden.has(key));
        const reader = settingsIn(config, stored, definitions);
        const facts = { config, sources, sql, settings: reader, stored, secrets: await secrets.status(), definitions };
        return checkDeclared(declaredBy(modules, 'doctorChecks'), facts);
      });
      return [...checked.findings, ...(checked.further ?? [])];
    }
    // The doctor changes nothing. A start could run a recovery, or write to a full disk.
    const { findings: notRunning, note, error } = findingsOf('database');
    const installed = await findPackage().then(
      ({ major }) => major,
      () => embedded?.major,
    );
    const todo = 'tradepost start, then repeat the doctor while it runs: it checks migrations, settings and jobs then';
    if (unreadable)
      error(
        'database/embedded-unreadable',
        `the embedded database cannot be read: ${unreadable}`,
        'run the doctor as the account that owns it',
      );
    else if (embedded?.major && embedded.major !== installed)
      note(
        'database/other-major',
        `the embedded database is of PostgreSQL ${embedded.major}, and this version brings ${installed}`,
        'tradepost start upgrades an older one and keeps it; docs/OPERATIONS.md, "Upgrade"',
      );
    else if (embedded?.state === 'stopped')
      note('database/embedded-stopped', `the embedded PostgreSQL is not running (${embedded.dataDirectory})`, todo);
    else note('database/embedded-missing', 'there is no embedded database yet', todo);
    return notRunning;
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
    ...(await guarded('network', () => checkNetwork(config, processes))),
  ];
}

const paint: Record<Level, (text: string) => string> = { ok: green, note: dim, warning: yellow, error: red };

const doctor =
  (context: CommandContext) =>
  async (options: GlobalOptions): Promise<void> => {
    const findings = (await checkAll(configuration(context, options))).map((finding) => ({
      ...finding,
      todo: asCalled(finding.todo),
    }));
    const counts = Object.fromEntries(
      levels.map((level) => [level, findings.filter((finding) => finding.level === level).length]),
    ) as Record<Level, number>;
    if (counts.error > 0) process.exitCode = exitCodes.failed;
    if (options.json) return printJson({ ok: counts.error === 0, counts, findings });
    let area = '';
    for (const finding of findings) {
      if (finding.area !== area) print(`${area ? '\n' : ''}${bold(finding.area)}`);
      area = finding.area;
      print(
        `  ${paint[finding.level](finding.level.padEnd(7))}  ${finding.what}${finding.id && dim(` [${finding.id}]`)}`,
      );
      if (finding.todo) print(`           ${dim('->')} ${finding.todo}`);
    }
    print(
      `\n${numberOf(counts.error, 'error')}, ${numberOf(counts.warning, 'warning')}, ${numberOf(counts.note, 'note')}`,
    );
  };

export const register: RegisterCommand = (command, context) => {
  withDatabaseOptions(
    command
      .option('--json', 'print the findings as JSON')
      .addHelpText(
        'after',
        '\nExample:\n  $ tradepost doctor\n\nThe doctor changes and starts nothing. It does not start an embedded database.\n' +
          'docs/TROUBLESHOOTING.md explains each finding by the id in brackets.\n\n' +
          'Exit codes: 0 no errors (there may be warnings and notes), 1 errors.',
      ),
  ).action(doctor(context));
};
