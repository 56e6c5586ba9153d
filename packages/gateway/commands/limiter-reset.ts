import type { CommandContext } from '@tradepost/module';
import { confirm, type GlobalOptions, print, printJson, withDatabaseOptions } from '@tradepost/terminal';
import { Argument, type Command } from 'commander';
import { openLimiterView } from '../limits/open-limiter.ts';
import { type GivenKey, givenKey, keySpelling, resolveKey } from './limiter-key.ts';

type ResetOptions = GlobalOptions & { all?: boolean; yes?: boolean };

const reset =
  (context: CommandContext) =>
  async (given: GivenKey | undefined, { all, yes, json, ...options }: ResetOptions, command: Command) => {
    if ((given !== undefined) === (all === true)) command.error('error: give either a key or --all');
    if (all && !yes) {
      if (!process.stdin.isTTY) command.error('error: --all without a terminal needs --yes');
      if (!(await confirm('Reset the usage of every user, token, address and model?'))) {
        if (json) return printJson({ reset: 0 });
        return print('nothing was reset');
      }
    }
    await context.withRuntime(options, async (runtime) => {
      const view = openLimiterView(runtime);
      try {
        const key = given && (await resolveKey(runtime, given));
        const count = await view.reset(key?.of);
        if (json) return printJson({ reset: count });
        if (!key) return print(`${count} ${count === 1 ? 'log' : 'logs'} reset`);
        print(count > 0 ? `the log of ${key.name} was reset` : `there was no log of ${key.name}`);
      } finally {
        await view.close();
      }
    });
  };

export function addReset(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('reset')
      .addArgument(new Argument('[key]', keySpelling).argParser(givenKey))
      .description('reset the usage of one key, or of all keys: the whole limit is available again')
      .option('--all', 'every user, token, address and model')
      .option('--yes', 'do not ask')
      .option('--json', 'print the number of reset logs as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost limiter reset user:42\n  $ tradepost limiter reset --all --yes\n\n' +
          'Exit codes: 0 done, also when there was no log, 1 no gateway runs, 2 wrong usage.',
      ),
  ).action(reset(context));
}
