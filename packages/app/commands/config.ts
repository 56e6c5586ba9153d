import type { ModuleCommand } from '@tradepost/module';
import { describeConfig } from '@tradepost/runtime';
import { configOf, type GlobalOptions, print, printJson, table, withDatabaseOptions } from '@tradepost/terminal';

export const configCommand: ModuleCommand = {
  name: 'config',
  sort: 50,
  register(program) {
    withDatabaseOptions(
      program
        .command('config')
        .description('print the current configuration and the source of each value; secrets are masked')
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
  },
};
