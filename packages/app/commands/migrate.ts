import type { RegisterCommand } from '@tradepost/module';
import { type GlobalOptions, print, printJson, withDatabaseOptions } from '@tradepost/terminal';

export const register: RegisterCommand = (command, context) => {
  withDatabaseOptions(
    command
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost migrate --database-url postgres://shop@db/shop'),
  ).action(async (options: GlobalOptions) => {
    await context.withRuntime(
      options,
      async ({ migrated }) => {
        if (options.json) return printJson(migrated);
        if (migrated.applied.length === 0) return print(`up to date (${migrated.total} migrations)`);
        print(`applied ${migrated.applied.join(', ')}`);
      },
      { mayMigrate: true },
    );
  });
};
