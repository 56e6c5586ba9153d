import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { CsvFault } from '@tradepost/csv';
import type { CommandContext, RegisterCommand } from '@tradepost/module';
import { shopLocale } from '@tradepost/runtime';
import {
  countOf,
  createProgress,
  exitCodes,
  type GlobalOptions,
  numberOf,
  openOutput,
  print,
  printJson,
  reportFaults,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { exportProducts } from '../csv/export-products.ts';
import { importProducts } from '../csv/import-products.ts';
import { openStockOwner } from '../stock-ownership/stock-owner.ts';

async function exportTo(context: CommandContext, file: string, options: GlobalOptions): Promise<void> {
  await context.withRuntime(options, async ({ sql }) => {
    const output = await openOutput(file);
    const { seconds, rate, report } = createProgress('rows');
    try {
      const done = await exportProducts(sql, output.write, ({ products, skus }) =>
        report(skus, `${numberOf(products, 'product')}, ${numberOf(skus, 'SKU')}`),
      );
      await output.end();
      const summary = { ...done, seconds: seconds(), rows_per_second: rate(done.skus) };
      // When the table goes to stdout, all other output goes to stderr.
      const say = file === '-' ? (text: string) => process.stderr.write(`${text}\n`) : print;
      if (options.json) say(JSON.stringify(summary, null, 2));
      else say(`${numberOf(done.products, 'product')}, ${numberOf(done.skus, 'SKU')} in ${seconds()} s`);
    } catch (error) {
      await output.drop();
      // The reader of our output has closed the pipe.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

const importFrom =
  (context: CommandContext) =>
  async (file: string, options: GlobalOptions & { dryRun?: boolean }): Promise<void> => {
    const input = file === '-' ? process.stdin : createReadStream(file);
    if (file !== '-') await once(input, 'open');
    await context
      .withRuntime(options, async (runtime) => {
        const { seconds, rate, report } = createProgress('lines');
        const { errors, onFault } = reportFaults<CsvFault>();
        const done = await importProducts(runtime.sql, input, {
          stockOwner: await openStockOwner(runtime, context.modulesOf(runtime.config)),
          locale: runtime.settings.get(shopLocale),
          dryRun: options.dryRun ?? false,
          onFault,
          onProgress: ({ lines, failed }) =>
            report(lines, `${numberOf(lines, 'line')}, ${numberOf(failed, 'product')} refused`),
        });
        if (done.faults > 0) process.exitCode = exitCodes.failed;
        if (options.json) return printJson({ ...done, seconds: seconds(), lines_per_second: rate(done.lines), errors });
        const counts = (['created', 'updated', 'unchanged', 'failed'] as const).map((name) =>
          countOf(done[name], name),
        );
        print(`${numberOf(done.lines, 'line')}: ${counts.join(', ')} products in ${seconds()} s`);
        if (done.stock_ignored) print('stock and stock_before were ignored: warehouses own the stock');
        if (options.dryRun) print('nothing was written (--dry-run)');
      })
      .finally(() => input.destroy());
  };

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('export [file]')
      .description('write all products, one line per SKU, to a file or to standard output (-)')
      .option('--json', 'print the summary as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost catalog export products.csv'),
  ).action((file: string | undefined, options: GlobalOptions) => exportTo(context, file ?? '-', options));
  withDatabaseOptions(
    group
      .command('import <file>')
      .description('create and change products from a file or from standard input (-)')
      .option('--dry-run', 'check every line and count the changes, but write nothing')
      .option('--json', 'print the summary and the faults as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost catalog import products.csv --dry-run\n  $ tradepost catalog export - | tradepost catalog import - --data /srv/other\n\nColumns: packages/catalog/CSV.md. Exit code 1 when a line was refused; the other products are written.',
      ),
  ).action(importFrom(context));
};
