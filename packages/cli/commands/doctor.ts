import { join, relative } from 'node:path';
import { settings as packageSettings } from '@tradepost/app';
import { findEmbeddedPostgres } from '@tradepost/embedded-postgres';
import {
  ConfigError,
  type LoadedConfig,
  runtimeSettings,
  type Setting,
  selectStoredSettings,
} from '@tradepost/runtime';
import type { Command } from 'commander';
import { checkConfiguration, checkStoredSettings } from '../doctor/check-configuration.ts';
import { checkDataFolder } from '../doctor/check-data-folder.ts';
import { checkDatabase } from '../doctor/check-database.ts';
import { checkDevelopment } from '../doctor/check-development.ts';
import { checkGateway } from '../doctor/check-gateway.ts';
import { checkJobs } from '../doctor/check-jobs.ts';
import { checkNetwork } from '../doctor/check-network.ts';
import { checkPlatform } from '../doctor/check-platform.ts';
import { checkStore } from '../doctor/check-store.ts';
import { checkWarehouse } from '../doctor/check-warehouse.ts';
import { type Finding, findingsOf, type Level, levels, messageOf } from '../doctor/finding.ts';
import { configOf, type GlobalOptions, withDatabaseOptions } from '../options.ts';
import { bold, dim, exitCodes, green, print, printJson, progress, red, yellow } from '../output.ts';

const settings: readonly Setting[] = [...runtimeSettings, ...packageSettings];

function configuration(options: GlobalOptions): { loaded: LoadedConfig | null; findings: Finding[] } {
  const { findings, error } = findingsOf('configuration');
  try {
    return { loaded: configOf(options), findings };
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason;
    for (const problem of reason.problems) error(problem, 'correct it: the shop does not start with it');
    return { loaded: null, findings };
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

async function checkAll({ loaded, findings }: ReturnType<typeof configuration>): Promise<Finding[]> {
  const platform = await guarded('platform', () => checkPlatform(loaded?.config ?? null));
  if (!loaded) return [...findings, ...platform];
  const { config } = loaded;
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
        return [
          ...checkStoredSettings(stored, settings),
          ...checkDevelopment(loaded, stored, settings),
          ...(await checkJobs(sql, config)),
          ...(await checkWarehouse(sql, config, stored, settings)),
          ...(await checkGateway(sql, config, stored)),
        ];
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
    ...(await guarded('configuration', () => checkConfiguration(loaded, settings))),
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

async function doctor(options: GlobalOptions): Promise<void> {
  const findings = await checkAll(configuration(options));
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
}

export function addDoctor(program: Command): void {
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
  ).action(doctor);
}
