import { isoInZone } from '@tradepost/core';
import type { CommandContext } from '@tradepost/module';
import { type SettingChange, timeZone } from '@tradepost/runtime';
import { type GlobalOptions, print, printJson, table, wholeNumber, withDatabaseOptions } from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { keyArgument } from './setting-arguments.ts';

const shown = (value: unknown): string => (value === null ? '(default)' : JSON.stringify(value));
const rowIn =
  (zone: string) =>
  ({ key, before, after, changed_by, changed_at }: SettingChange): string[] => [
    ...[isoInZone(changed_at, zone), changed_by, key, shown(before).slice(0, 60), shown(after).slice(0, 60)],
  ];

type LogOptions = GlobalOptions & { limit: number };

/** `settings log`: who changed which setting. The change log has no secrets. */
export function addLogCommand(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('log')
      .addArgument(keyArgument('[prefix]', context))
      .description('changes of the settings with this prefix, the newest first, with their authors; *** for secrets')
      .addOption(new Option('--limit <n>', 'number of changes').argParser(wholeNumber(1, 10_000)).default(50))
      .option('--json', 'print the changes as JSON')
      .addHelpText('after', '\nExamples:\n  $ tradepost settings log\n  $ tradepost settings log sms. --limit 10'),
  ).action((prefix: string | undefined, { limit, ...options }: LogOptions) =>
    context.withRuntime(options, async ({ settings }) => {
      const keys = settings.list().flatMap(({ key }) => (key.startsWith(prefix ?? '') ? [key] : []));
      const { rows } = await settings.changes({ ...(prefix === undefined ? {} : { keys }), limit });
      if (options.json) return printJson(rows);
      if (rows.length === 0) return print('no changes');
      print(table([['WHEN', 'BY', 'SETTING', 'BEFORE', 'AFTER'], ...rows.map(rowIn(settings.get(timeZone)))]));
    }),
  );
}
