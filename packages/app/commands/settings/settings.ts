import type { RegisterCommand } from '@tradepost/module';
import {
  meantText,
  runtimeSettings,
  type Setting,
  type SettingRow,
  type Settings,
  secretMask,
} from '@tradepost/runtime';
import {
  asCalled,
  commandAuthor,
  configOf,
  type GlobalOptions,
  print,
  printJson,
  progress,
  readSecret,
  secretAsArgument,
  table,
  UsageError,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { inputSchemaOf, keyArgument, keyBeforeValue } from './setting-arguments.ts';
import { addLogCommand } from './settings-log.ts';

/** Parses JSON such as `true`, `15` and `["a"]`. Other input is text, and so are digits where the setting is a text. */
function parseValue(given: string, schema: Setting['schema']): unknown {
  try {
    const parsed: unknown = JSON.parse(given);
    return !schema.safeParse(parsed).success && schema.safeParse(given).success ? given : parsed;
  } catch {
    return given;
  }
}

const jsonExamples: Readonly<Record<string, string>> = { array: '\'["a","b"]\'', object: '\'{"a":"b"}\'' };

/** Refuses a text where the setting is a list or an object, with the form that it takes. */
function refuseText(key: string, value: unknown, schema: Setting['schema']): void {
  if (typeof value !== 'string' || schema.safeParse(value).success) return;
  const example = jsonExamples[String(inputSchemaOf(schema).type)];
  if (example) throw new UsageError(`${key}: the value must be JSON, such as ${example}`);
}

/** The value to store: the argument, or for a secret the text from standard input or a hidden prompt. */
async function readValue(key: string, value: string | undefined, definitions: readonly Setting[]): Promise<unknown> {
  const definition = definitions.find((each) => each.key === key);
  if (!definition) throw unknownSetting(key, definitions);
  if (definition.secret) {
    const how = `printf %s "$SECRET" | tradepost settings set ${key}, or without a pipe at the hidden prompt`;
    if (value !== undefined && value !== '-') throw secretAsArgument(key, how);
    const text = await readSecret(key);
    if (text === secretMask) throw new UsageError(`${key}: ${secretMask} is what is shown instead of a secret`);
    // A secret of digits stays text. A setting whose schema refuses text, such as the list of upstreams, is JSON.
    return definition.schema.safeParse(text).success ? text : parseValue(text, definition.schema);
  }
  if (value === undefined) throw new UsageError(`${key}: the value is missing`);
  // Usually an unset variable of a shell. It must not change, for example, the inventory provider.
  if (value === '')
    throw new UsageError(
      `${key}: the value is empty; tradepost settings unset ${key} restores the default, '""' is an empty text`,
    );
  const parsed = parseValue(value, definition.schema);
  refuseText(key, parsed, definition.schema);
  return parsed;
}

/** An empty secret is shown as empty, so that the operator sees that it must be set. */
const hidden = ({ secret, value }: SettingRow) => secret && value !== '' && value !== null;
const masked = (row: SettingRow): SettingRow => (hidden(row) ? { ...row, value: secretMask } : row);

function shown(row: SettingRow): string {
  if (row.unreadable) return asCalled('unreadable (tradepost doctor)');
  if (hidden(row)) return secretMask;
  return row.secret ? '-' : JSON.stringify(row.value);
}

const unknownSetting = (key: string, known: readonly { readonly key: string }[]) =>
  new UsageError(
    `there is no setting ${key}${meantText(
      key,
      known.map((each) => each.key),
    )}`,
  );

function rowOf(settings: Settings, key: string): SettingRow {
  const rows = settings.list();
  const row = rows.find((setting) => setting.key === key);
  if (!row) throw unknownSetting(key, rows);
  return row;
}

export const register: RegisterCommand = (group, context) => {
  addLogCommand(group, context);
  withDatabaseOptions(
    group
      .command('list')
      .addArgument(keyArgument('[prefix]', context))
      .description('all settings, or those with this prefix, with value, source and meaning')
      .option('--json', 'print them as JSON')
      .addHelpText('after', '\nExamples:\n  $ tradepost settings list\n  $ tradepost settings list orders.'),
  ).action((prefix: string | undefined, options: GlobalOptions) =>
    context.withRuntime(options, async ({ settings }) => {
      const rows = settings.list().filter((row) => row.key.startsWith(prefix ?? ''));
      if (options.json) return printJson(rows.map(masked));
      if (rows.length === 0) progress(`no setting begins with ${prefix}`);
      const cells = rows.map((row) => [row.key, shown(row), row.source, row.about]);
      print(table([['SETTING', 'VALUE', 'FROM', 'MEANING'], ...cells]));
    }),
  );
  withDatabaseOptions(
    group
      .command('get')
      .addArgument(keyArgument('<key>', context))
      .description('print one value as JSON; of a secret only whether it is set')
      .option('--reveal', 'print a secret too')
      .addHelpText('after', '\nExample:\n  $ tradepost settings get shop.time_zone'),
  ).action((key: string, { reveal, ...options }: GlobalOptions & { reveal?: boolean }) =>
    context.withRuntime(options, async ({ settings }) => {
      const row = rowOf(settings, key);
      print(reveal ? JSON.stringify(row.value) : shown(row));
    }),
  );
  withDatabaseOptions(
    group
      .command('set')
      .addArgument(keyBeforeValue('<key>', context))
      .argument('[value]')
      .description(
        'store a value: JSON or text; running servers use it at once or within 30 s. A secret is read from standard input or a hidden prompt',
      )
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost settings set orders.unpaid_minutes 30\n' +
          '  $ tradepost settings set notices.enabled \'["order_shipped"]\'\n' +
          '  $ printf %s "$SECRET" | tradepost settings set pay.sandbox.secret',
      ),
  ).action(async (key: string, value: string | undefined, options: GlobalOptions) => {
    const definitions = [...runtimeSettings, ...context.settingsOf(configOf(options).config)];
    const given = await readValue(key, value, definitions);
    await context.withRuntime(options, async ({ settings }) => {
      await settings.set(key, given, { by: commandAuthor() });
      const row = rowOf(settings, key);
      print(
        `${key} = ${shown(row)}${row.about.endsWith('read at start') ? '  (used after a restart of all processes)' : ''}`,
      );
    });
  });
  withDatabaseOptions(
    group
      .command('unset')
      .addArgument(keyArgument('<key>', context))
      .description('restore the default')
      .addHelpText('after', '\nExample:\n  $ tradepost settings unset orders.unpaid_minutes'),
  ).action((key: string, options: GlobalOptions) =>
    context.withRuntime(options, async ({ settings }) => {
      rowOf(settings, key);
      await settings.unset(key, { by: commandAuthor() });
      print(`${key} = ${shown(rowOf(settings, key))}`);
    }),
  );
};
