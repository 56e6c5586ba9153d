import { join } from 'node:path';
import { hasEmbeddedPostgres } from '@tradepost/embedded-postgres';
import type { CommandContext, Module } from '@tradepost/module';
import {
  type MigrationFault,
  migrationFaults,
  migrationState,
  openDatabase,
  type PlannedMigration,
  planMigrations,
  type Sql,
} from '@tradepost/postgres';
import { openDatabaseServer, openLog, type Runtime } from '@tradepost/runtime';
import {
  configOf,
  exitCodes,
  type GlobalOptions,
  green,
  numberOf,
  print,
  printJson,
  red,
  table,
} from '@tradepost/terminal';
import { version } from '../version.ts';

/** Which database it is, so that an operator sees a wrong address. Without its password. */
export function databaseName({ embedded, sql: { options } }: Pick<Runtime, 'embedded' | 'sql'>): string {
  if (embedded) return `the embedded database in ${embedded.dataDirectory}`;
  const hosts = options.host.map((host, at) => `${host}:${options.port[at]}`);
  return `database ${options.database} at ${hosts.join(', ')}`;
}

/**
 * Runs `work` with the database as it is, and its name. `sql` is null when the embedded one does not exist yet: it is not
 * created.
 */
async function withDatabase<T>(
  options: GlobalOptions,
  work: (sql: Sql | null, database: string) => Promise<T>,
): Promise<T> {
  const { config } = configOf(options);
  if (!config.databaseUrl && !(await hasEmbeddedPostgres(join(config.data, 'postgres'))))
    return work(null, `the embedded database in ${config.data}`);
  const log = openLog({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
  const server = await openDatabaseServer({ config }, log);
  const sql = openDatabase(server.url, { max: 1, name: 'tradepost migrate', statementTimeoutMs: 60_000 });
  try {
    return await work(sql, databaseName({ embedded: server.embedded, sql }));
  } finally {
    await sql.end({ timeout: 1 });
    await server.close();
  }
}

/** The module that a file is named by, otherwise the owner of the first table that it names. */
function ownerOf({ name, objects }: PlannedMigration, modules: readonly Module[]): string {
  const words = `${name.slice(5).replace(/\.sql$/, '')}_`;
  const named = modules
    .filter((module) => words.startsWith(`${module.name.replaceAll('-', '_')}_`))
    .sort((a, b) => b.name.length - a.name.length)[0];
  const owner = named ?? modules.find(({ tables = [] }) => objects.some((object) => tables.includes(object)));
  return owner?.name ?? objects[0]?.split('.')[0]?.replaceAll('_', '-') ?? 'runtime';
}

const digits = (n: number) => n.toLocaleString('en');

/** Lists the migrations that `migrate` would apply, with what refuses them. */
export async function printPlan(context: CommandContext, options: GlobalOptions): Promise<void> {
  const { database, planned, faults } = await withDatabase(options, async (sql, name) => ({
    database: name,
    planned: await planMigrations(sql),
    faults: sql ? migrationFaults(await migrationState(sql)).filter(({ id }) => id !== 'missing') : [],
  }));
  const rows = faults.length > 0 ? [] : planned;
  const migrations = rows.map(({ objects, ...migration }) => ({
    package: ownerOf({ objects, ...migration }, context.modules),
    ...migration,
  }));
  if (faults.length > 0) process.exitCode = exitCodes.failed;
  if (options.json) return printJson({ database, version, migrations, problems: faults });
  for (const { what, todo } of faults) print(`${red('refused')}: ${what}. ${todo}.`);
  if (faults.length > 0) return;
  if (migrations.length === 0) return print(`nothing to apply: ${database} fits version ${version}`);
  print(
    table(
      [
        ['NUMBER', 'NAME', 'PACKAGE', 'SIZE', 'ROWS', 'STEP'],
        ...migrations.map(({ id, name, package: owner, size, rows, step, stopped_in }) => [
          ...[String(id).padStart(4, '0'), name.slice(5, -4), owner, size, digits(rows)],
          stopped_in ? `${step}: needs every process at ${stopped_in} or newer` : step,
        ]),
      ],
      { alignRight: (column) => column === 4 },
    ),
  );
  print(
    `${numberOf(migrations.length, 'migration')} to apply to ${database}, each in a transaction of its own; nothing was changed`,
  );
}

const absent: MigrationFault = {
  id: 'missing',
  what: 'There is no database in the data folder',
  todo: 'Give --data, or run `tradepost start` or `tradepost migrate`: they make one',
};

const maxNames = 10;

/** An empty database lacks every migration, and only the first names help. `--json` has all. */
function printNames(what: string, names: readonly string[] = []): void {
  for (const name of names.slice(0, maxNames)) print(`  ${what} ${name}`);
  if (names.length > maxNames) print(`  and ${names.length - maxNames} more`);
}

/** Says whether the database is exactly at this version. Returns it. */
export async function checkDatabaseVersion(options: GlobalOptions): Promise<boolean> {
  const { database, state, faults } = await withDatabase(options, async (sql, name) => {
    const found = sql ? await migrationState(sql) : null;
    return { database: name, state: found, faults: found ? migrationFaults(found) : [absent] };
  });
  const ok = faults.length === 0;
  if (options.json) printJson({ ok, database, version, ...state, problems: faults });
  else if (ok) print(`${green('up to date')}: ${database} fits version ${version}`);
  else {
    for (const { what, todo } of faults) print(`${red('not at this version')}: ${what}. ${todo}.`);
    print(`checked: ${database}`);
    printNames('missing', state?.missing);
    printNames('unknown', state?.unknown);
    printNames('edited ', state?.edited);
  }
  return ok;
}
