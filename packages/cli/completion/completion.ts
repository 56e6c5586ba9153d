import type { RegisterCommand } from '@tradepost/module';
import { print } from '@tradepost/terminal';
import { Argument } from 'commander';
import { findRunningCommands } from '../find-commands.ts';
import { openProgram } from '../open-program.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { wordsOf } from './words.ts';
import { zshScript } from './zsh.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof scripts;

export const register: RegisterCommand = (command, context) => {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  $ tradepost completion bash > ~/.local/share/bash-completion/completions/tradepost\n' +
        '  $ tradepost completion zsh > ~/.zfunc/_tradepost      # a folder named in fpath\n' +
        '  $ tradepost completion fish > ~/.config/fish/completions/tradepost.fish\n\n' +
        'For the current bash only: source <(tradepost completion bash). New shells load the files themselves: bash with the\n' +
        'package bash-completion, zsh after compinit. The command `tradepost` must be in the PATH.',
    )
    .action(async (shell: Shell) => {
      const { running } = await findRunningCommands(undefined, async () => context);
      const program = await openProgram(running, context);
      print(scripts[shell](wordsOf(program)));
    });
};
