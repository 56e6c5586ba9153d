import { declaredBy, type ModuleCommand } from '@tradepost/module';
import { runtimeSettings } from '@tradepost/runtime';
import { print } from '@tradepost/terminal';
import { Argument } from 'commander';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { wordsOf } from './words.ts';
import { zshScript } from './zsh.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof scripts;

export const completionCommand: ModuleCommand = {
  name: 'completion',
  sort: 610,
  register(program, context) {
    const settingKeys = () =>
      [...runtimeSettings, ...declaredBy(context.modules, 'settings')].map(({ key }) => key).sort();
    program
      .command('completion')
      .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
      .description('print a script that lets a shell complete the commands, options and values of tradepost')
      .addHelpText(
        'after',
        '\nExamples:\n' +
          '  $ tradepost completion bash > ~/.local/share/bash-completion/completions/tradepost\n' +
          '  $ tradepost completion zsh > ~/.zfunc/_tradepost      # a folder named in fpath\n' +
          '  $ tradepost completion fish > ~/.config/fish/completions/tradepost.fish\n\n' +
          'For the current bash only: source <(tradepost completion bash). New shells load the files themselves: bash with the\n' +
          'package bash-completion, zsh after compinit. The command `tradepost` must be in the PATH.',
      )
      .action((shell: Shell) => print(scripts[shell](wordsOf(program, settingKeys()))));
  },
};
