import type { RegisterCommand } from '@tradepost/module';
import {
  configOf,
  type GlobalOptions,
  print,
  printJson,
  progress,
  UsageError,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { finishDemo, seedDemo } from '../seed-demo.ts';
import { type Scale, seedScale } from '../seed-scale.ts';

const count = wholeNumber(1, 10_000_000);

type ScaleOptions = Partial<Scale>;

/** The size of a scale seed, or undefined without --orders. The other counts require --orders. */
function scaleOf({ orders, shoppers, products }: ScaleOptions, command: Command): Scale | undefined {
  if (orders !== undefined)
    return {
      orders,
      shoppers: shoppers ?? Math.ceil(orders / 20),
      products: products ?? Math.ceil(orders / 200),
    };
  if (shoppers !== undefined || products !== undefined)
    command.error('error: --shoppers and --products require --orders');
}

export const register: RegisterCommand = (command, context) => {
  withDatabaseOptions(
    command
      .option(
        '--orders <number>',
        'add this number of orders of one year, with shoppers and products, to test the shop at size',
        count,
      )
      .option('--shoppers <number>', 'with --orders: number of shoppers to add (default: one per 20 orders)', count)
      .option('--products <number>', 'with --orders: number of products to add (default: one per 200 orders)', count)
      .addOption(
        new Option(
          '--seed <what>',
          'required for an external database, because demo accounts have known passwords',
        ).choices(['demo']),
      )
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost seed --data /srv/try\n  $ tradepost seed --seed demo --database-url postgres://shop@db/try\n  $ tradepost seed --data /srv/try --orders 1000000',
      ),
  ).action(async (given: GlobalOptions & ScaleOptions, command: Command) => {
    const { orders, shoppers, products, ...options } = given;
    const scale = scaleOf({ orders, shoppers, products }, command);
    const { config } = configOf(options);
    if (config.databaseUrl && config.seed !== 'demo')
      throw new UsageError(
        'the database is external: demo data has known passwords and is written there only with --seed demo',
      );
    if (config.production)
      throw new UsageError('demo data has well-known passwords: it is refused with NODE_ENV=production');
    await context.withRuntime(
      options,
      async (runtime) => {
        const { sql } = runtime;
        const seeded = await seedDemo(sql, context.modulesOf(config));
        if (scale) {
          const added = await seedScale(sql, scale, progress);
          await finishDemo(runtime);
          if (options.json) return printJson(added);
          return print(`${added.orders} orders, ${added.shoppers} shoppers, ${added.products} products added`);
        }
        if (seeded) {
          await runtime.settings.reload();
          await finishDemo(runtime);
        }
        if (options.json) return printJson(seeded ?? { products: 0, skus: 0, accounts: 0 });
        print(
          seeded
            ? `${seeded.products} products, ${seeded.skus} SKUs, ${seeded.accounts} accounts`
            : 'the database already has products: nothing was changed',
        );
      },
      { mayMigrate: true },
    );
  });
};
