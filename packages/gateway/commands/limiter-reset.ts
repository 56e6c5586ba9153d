import { createInterface } from 'node:readline/promises';
import type { CommandContext } from '@tradepost/module';
import { type GlobalOptions, print, printJson, withDatabaseOptions } from '@tradepost/terminal';
import { Argument, type Command } from 'commander';
import { openLimiterView } from '../limits/open-limiter.ts';
import { type GivenKey, givenKey, keySpelling, resolveKey } from './limiter-key.ts';

type ResetOptions = GlobalOptions & { all?: boolean; yes?: boolean };

/** Asked on stderr: stdout stays what was asked for. */
async function confirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

const reset =
  (context: CommandContext) =>
  async (given: GivenKey | undefined, { all, yes, json, ...options }: ResetOptions, command: Command) => {
    if ((given !== undefined) === (all === true)) command.error('error: give either a key or --all');
    if (all && !yes) {
      if (!process.stdin.isTTY) command.error('error: --all without a terminal needs --yes');
      if (!(await confirmed('Forget what every user, token, address and model has used?'))) {
        if (json) return printJson({ reset: 0 });
        return print('nothing was forgotten');
      }
    }
    await context.withRuntime(options, async (runtime) => {
      const view = openLimiterView(runtime);
      try {
        const key = given && (await resolveKey(runtime, given));
        const count = await view.reset(key?.of);
        if (json) return printJson({ reset: count });
        if (!key) return print(`${count} ${count === 1 ? 'log' : 'logs'} forgotten`);
        print(count > 0 ? `the log of ${key.name} is forgotten` : `there was no log of ${key.name}`);
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
      .description('forget what one key has used, or all of them: the whole limit is free again')
      .option('--all', 'every user, token, address and model')
      .option('--yes', 'do not ask')
      .option('--json', 'print how many logs were forgotten as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost limiter reset user:42\n  $ tradepost limiter reset --all --yes\n\n' +
          'Exit codes: 0 done, also when there was nothing to forget, 1 no gateway runs, 2 wrong usage.',
      ),
  ).action(reset(context));
}
