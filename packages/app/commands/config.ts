import type { RegisterCommand } from '@tradepost/module';
import { describeConfig, misspeltText } from '@tradepost/runtime';
import {
  configOf,
  type GlobalOptions,
  print,
  printJson,
  progress,
  table,
  withDatabaseOptions,
} from '@tradepost/terminal';

export const register: RegisterCommand = (command) => {
  withDatabaseOptions(
    command.option('--json', 'print it as JSON').addHelpText('after', '\nExample:\n  $ PORT=9000 tradepost config'),
  ).action((options: GlobalOptions) => {
    const loaded = configOf(options);
    const rows = describeConfig(loaded);
    if (options.json) return printJson({ file: loaded.file, values: rows, misspelt: loaded.misspelt });
    if (loaded.file) print(`file: ${loaded.file}\n`);
    print(
      table([
        ['VARIABLE', 'VALUE', 'FROM', 'MEANING'],
        ...rows.map((row) => [row.env, row.value || '-', row.source, row.about]),
      ]),
    );
    for (const variable of loaded.misspelt) progress(`warning: ${misspeltText(variable)}`);
  });
};
