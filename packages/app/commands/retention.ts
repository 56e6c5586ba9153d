import { type CommandContext, declaredBy, type RegisterCommand } from '@tradepost/module';
import { daysInForce, type RetentionRule, runRetention, type Setting } from '@tradepost/runtime';
import { type GlobalOptions, print, printJson, table, withDatabaseOptions } from '@tradepost/terminal';

const settingOf = ({ days }: RetentionRule): Setting<number> | null => (typeof days === 'number' ? null : days);

const list =
  (context: CommandContext) =>
  async (options: GlobalOptions): Promise<void> => {
    await context.withRuntime(options, async ({ settings, config }) => {
      const rows = declaredBy(context.modulesOf(config), 'retention').map((rule) => ({
        name: rule.name,
        days: daysInForce(rule, settings),
        setting: settingOf(rule)?.key ?? null,
        table: rule.table,
        about: rule.about,
      }));
      if (options.json) return printJson(rows);
      print(
        table([
          ['WHAT', 'KEPT', 'SETTING', 'ROWS'],
          ...rows.map(({ name, days, setting, about }) => {
            const kept = days === null ? 'for ever' : days === 0 ? 'until expired' : `${days} days`;
            return [name, kept, setting ?? '-', about];
          }),
        ]),
      );
    });
  };

const run =
  (context: CommandContext) =>
  async (options: GlobalOptions): Promise<void> => {
    await context.withRuntime(
      options,
      async (runtime) => {
        const deleted = await runRetention(runtime, declaredBy(context.modulesOf(runtime.config), 'retention'));
        if (options.json) return printJson(deleted);
        if (deleted.length === 0) return print('no rows are old enough');
        print(table([['WHAT', 'ROWS'], ...deleted.map(({ rule, rows }) => [rule, String(rows)])]));
      },
      { isBackground: true },
    );
  };

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('list')
      .description('the rules with their current days; ledgers have no rule and are kept for ever')
      .option('--json', 'print the rules as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost retention list\n  $ tradepost settings set retention.gateway_usage_days 90\n  $ tradepost settings set retention.setting_changes_days 0   # keep for ever',
      ),
  ).action(list(context));
  withDatabaseOptions(
    group
      .command('run')
      .description('delete old rows now, for at most a minute; a worker does it every hour')
      .option('--json', 'print what was deleted as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost retention run'),
  ).action(run(context));
};
