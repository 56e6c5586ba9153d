import { finishDemo, modulesOf, type Scale, seedDemo, seedScale, settings } from '@tradepost/app';
import { ConfigError, describeConfig, runtimeErrors, type SettingRow, type Settings } from '@tradepost/runtime';
import type { Command } from 'commander';
import { configOf, type GlobalOptions, wholeNumber, withDatabaseOptions, withRuntime } from '../options.ts';
import { print, printJson, progress, table, UsageError } from '../output.ts';
import { readSecret, secretAsArgument } from '../read-secret.ts';

const mayMigrate = { mayMigrate: true };
const count = wholeNumber(1, 10_000_000);

function addMigrate(program: Command): void {
  withDatabaseOptions(
    program
      .command('migrate')
      .description('bring the database to this version')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost migrate --database-url postgres://shop@db/shop'),
  ).action(async (options: GlobalOptions) => {
    await withRuntime(
      options,
      async ({ migrated }) => {
        if (options.json) return printJson(migrated);
        if (migrated.applied.length === 0) return print(`up to date (${migrated.total} migrations)`);
        print(`applied ${migrated.applied.join(', ')}`);
      },
      mayMigrate,
    );
  });
}

type ScaleOptions = Partial<Scale>;

/** Undefined without --orders, which the other counts go with. */
function scaleOf({ orders, shoppers, products }: ScaleOptions, command: Command): Scale | undefined {
  if (orders !== undefined)
    return {
      orders,
      shoppers: shoppers ?? Math.ceil(orders / 20),
      products: products ?? Math.ceil(orders / 200),
    };
  if (shoppers !== undefined || products !== undefined)
    command.error('error: --shoppers and --products go with --orders');
}

function addSeed(program: Command): void {
  withDatabaseOptions(
    program
      .command('seed')
      .description('fill an empty database with the demo shop, or any database with as many orders as you like')
      .option(
        '--orders <number>',
        'add so many orders of a year with their shoppers and products, to try the shop at size',
        count,
      )
      .option('--shoppers <number>', 'with --orders: shoppers to add (default: one per 20 orders)', count)
      .option('--products <number>', 'with --orders: products to add (default: one per 200 orders)', count)
      .option('--seed <what>', 'demo: needed for an external database, as demo accounts have known passwords')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost seed --data /srv/try\n  $ tradepost seed --seed demo --database-url postgres://shop@db/try\n  $ tradepost seed --data /srv/try --orders 1000000',
      ),
  ).action(async (given: GlobalOptions & ScaleOptions, command: Command) => {
    const { orders, shoppers, products, ...options } = given;
    const scale = scaleOf({ orders, shoppers, products }, command);
    const { config } = configOf(options);
    if (config.databaseUrl && config.seed !== 'demo')
      throw new UsageError(
        'the database is an external one: demo data and its known passwords go there only with --seed demo',
      );
    await withRuntime(
      options,
      async (runtime) => {
        const { sql } = runtime;
        if (config.production)
          throw new Error('demo data has well-known passwords: it is refused with NODE_ENV=production');
        const seeded = await seedDemo(sql, modulesOf(config));
        if (scale) {
          const added = await seedScale(sql, scale, progress);
          await finishDemo(runtime);
          if (options.json) return printJson(added);
          return print(`${added.orders} orders, ${added.shoppers} shoppers, ${added.products} products added`);
        }
        if (seeded) {
          await runtime.settings.reload();
          await finishDemo(runtime);
        }
        if (options.json) return printJson(seeded ?? { products: 0, skus: 0, accounts: 0 });
        print(
          seeded
            ? `${seeded.products} products, ${seeded.skus} SKUs, ${seeded.accounts} accounts`
            : 'there are products already: nothing was changed',
        );
      },
      mayMigrate,
    );
  });
}

function addConfig(program: Command): void {
  withDatabaseOptions(
    program
      .command('config')
      .description('print the configuration in force and where each value comes from; secrets are masked')
      .option('--json', 'print it as JSON')
      .addHelpText('after', '\nExample:\n  $ PORT=9000 tradepost config'),
  ).action((options: GlobalOptions) => {
    const loaded = configOf(options);
    const rows = describeConfig(loaded);
    if (options.json) return printJson({ file: loaded.file, values: rows });
    if (loaded.file) print(`file: ${loaded.file}\n`);
    print(
      table([
        ['VARIABLE', 'VALUE', 'FROM', 'MEANING'],
        ...rows.map((row) => [row.env, row.value || '-', row.source, row.about]),
      ]),
    );
  });
}

/** `true`, `15` and JSON are read as such, everything else is text. */
function settingValue(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

/** The key of a setting that is secret, wherever its package defines it. */
const secretSetting = (key: string) => settings.find((definition) => definition.key === key && definition.secret);

/** What is to be stored: of a secret from standard input or a hidden prompt, else the argument. */
async function givenValue(key: string, value: string | undefined): Promise<unknown> {
  const secret = secretSetting(key);
  if (secret) {
    const how = `printf %s "$SECRET" | tradepost settings set ${key}, or without a pipe at the hidden prompt`;
    if (value !== undefined && value !== '-') throw secretAsArgument(key, how);
    const text = await readSecret(key);
    // Digits alone are a secret too; a list of upstreams is JSON.
    return secret.schema.safeParse(text).success ? text : settingValue(text);
  }
  if (value === undefined) throw new UsageError(`${key}: the value is missing`);
  // An unset variable of a shell: it must not change who keeps the stock.
  if (value === '')
    throw new ConfigError([`${key}: the value is empty; tradepost settings unset ${key} goes back to the default`]);
  return settingValue(value);
}

/** An empty value is nothing to hide, and says that a secret is still to be set. */
const hidden = ({ secret, value }: SettingRow) => secret && value !== '' && value !== null;
const masked = (row: SettingRow): SettingRow => (hidden(row) ? { ...row, value: '***' } : row);

function shown(row: SettingRow): string {
  if (hidden(row)) return '***';
  return row.secret ? '-' : JSON.stringify(row.value);
}

function rowOf(settings: Settings, key: string): SettingRow {
  const row = settings.list().find((setting) => setting.key === key);
  if (!row) throw runtimeErrors.unknown_setting({ key });
  return row;
}

function addSettings(program: Command): void {
  const group = program.command('settings').description('shop settings: list, get, set, unset');
  withDatabaseOptions(
    group
      .command('list [prefix]')
      .description('all settings, or those whose name begins so, with value, origin and meaning')
      .option('--json', 'print them as JSON')
      .addHelpText('after', '\nExamples:\n  $ tradepost settings list\n  $ tradepost settings list orders.'),
  ).action((prefix: string | undefined, options: GlobalOptions) =>
    withRuntime(options, async ({ settings }) => {
      const rows = settings.list().filter((row) => row.key.startsWith(prefix ?? ''));
      if (options.json) return printJson(rows.map(masked));
      if (rows.length === 0) progress(`no setting begins with ${prefix}`);
      const cells = rows.map((row) => [row.key, shown(row), row.source, row.about]);
      print(table([['SETTING', 'VALUE', 'FROM', 'MEANING'], ...cells]));
    }),
  );
  withDatabaseOptions(
    group
      .command('get <key>')
      .description('print one value as JSON; of a secret only whether there is one')
      .option('--reveal', 'print a secret too')
      .addHelpText('after', '\nExample:\n  $ tradepost settings get shop.time_zone'),
  ).action((key: string, { reveal, ...options }: GlobalOptions & { reveal?: boolean }) =>
    withRuntime(options, async ({ settings }) => {
      const row = rowOf(settings, key);
      print(reveal ? JSON.stringify(row.value) : shown(row));
    }),
  );
  withDatabaseOptions(
    group
      .command('set <key> [value]')
      .description(
        'store a value; running servers take it over at once or within 30 s. A secret is read from standard input, or asked for',
      )
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost settings set orders.unpaid_minutes 30\n  $ printf %s "$SECRET" | tradepost settings set pay.sandbox.secret',
      ),
  ).action(async (key: string, value: string | undefined, options: GlobalOptions) => {
    const given = await givenValue(key, value);
    await withRuntime(options, async ({ settings }) => {
      await settings.set(key, given, { by: 'cli' });
      const row = rowOf(settings, key);
      print(
        `${key} = ${shown(row)}${row.about.endsWith('read at start') ? '  (in force after a restart of all processes)' : ''}`,
      );
    });
  });
  withDatabaseOptions(
    group
      .command('unset <key>')
      .description('back to the default')
      .addHelpText('after', '\nExample:\n  $ tradepost settings unset orders.unpaid_minutes'),
  ).action((key: string, options: GlobalOptions) =>
    withRuntime(options, async ({ settings }) => {
      await settings.unset(key, { by: 'cli' });
      print(`${key} = ${shown(rowOf(settings, key))}`);
    }),
  );
}

export function addMaintenance(program: Command): void {
  addMigrate(program);
  addSeed(program);
  addConfig(program);
  addSettings(program);
}
