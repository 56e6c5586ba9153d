import type { CommandContext, RegisterCommand } from '@tradepost/module';
import { type GlobalOptions, print, printJson, withDatabaseOptions, withProgress } from '@tradepost/terminal';
import { rollDays } from '../days/roll-days.ts';

const rebuild =
  (context: CommandContext) =>
  async (options: GlobalOptions): Promise<void> => {
    await context.withRuntime(options, async (runtime) => {
      const began = performance.now();
      let line = '';
      const days = await withProgress(
        () => line,
        () =>
          rollDays(runtime, {
            all: true,
            onProgress(done, total) {
              line = `${done} of ${total} days`;
            },
          }),
      );
      const seconds = Math.round((performance.now() - began) / 10) / 100;
      if (options.json) return printJson({ days, seconds });
      print(`counted the orders of ${days} days in ${seconds} s`);
    });
  };

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('rebuild')
      .description('counts the orders of all past days again; reports work meanwhile')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost analytics rebuild'),
  ).action(rebuild(context));
};
