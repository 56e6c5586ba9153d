import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { CommandContext, ModuleCommand } from '@tradepost/module';
import { shopLocale } from '@tradepost/runtime';
import { exitCodes, type GlobalOptions, print, printJson, progress, withDatabaseOptions } from '@tradepost/terminal';
import type { CsvFault } from '../csv/csv-faults.ts';
import { exportProducts } from '../csv/export-products.ts';
import { importProducts } from '../csv/import-products.ts';
import { openStockOwner } from '../stock-ownership/stock-owner.ts';

/** The number of faults that `--json` repeats. All faults are written to stderr. */
const maxFaults = 1_000;

const count = (n: number, of: string) => `${n.toLocaleString('en')} ${of}`;

/** Writes the progress to stderr once a second. */
function createProgress(unit: string) {
  const begun = performance.now();
  let last = begun;
  const rate = (done: number) => Math.round(done / Math.max(0.001, (performance.now() - begun) / 1000));
  return {
    seconds: () => Math.round((performance.now() - begun) / 10) / 100,
    rate,
    report(done: number, text: string) {
      if (performance.now() - last < 1_000) return;
      last = performance.now();
      progress(`${text}, ${count(rate(done), `${unit}/s`)}`);
    },
  };
}

/** Writes with back-pressure. A file gets its name when it is complete. */
async function openOutput(file: string) {
  const part = `${file}.part`;
  const stream = file === '-' ? process.stdout : createWriteStream(part);
  if (file !== '-') await once(stream, 'open');
  const failed = new Promise<never>((_, reject) => stream.once('error', reject));
  failed.catch(() => {});
  return {
    async write(text: string) {
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), failed]);
    },
    async end() {
      if (file === '-') return;
      stream.end();
      await finished(stream);
      await rename(part, file);
    },
    async drop() {
      if (file === '-') return;
      stream.destroy();
      await rm(part, { force: true });
    },
  };
}

async function exportTo(context: CommandContext, file: string, options: GlobalOptions): Promise<void> {
  await context.withRuntime(options, async ({ sql }) => {
    const output = await openOutput(file);
    const { seconds, rate, report } = createProgress('rows');
    try {
      const done = await exportProducts(sql, output.write, ({ products, skus }) =>
        report(skus, `${count(products, 'products')}, ${count(skus, 'SKUs')}`),
      );
      await output.end();
      const summary = { ...done, seconds: seconds(), rows_per_second: rate(done.skus) };
      // When the table goes to stdout, all other output goes to stderr.
      const say = file === '-' ? (text: string) => process.stderr.write(`${text}\n`) : print;
      if (options.json) say(JSON.stringify(summary, null, 2));
      else say(`${count(done.products, 'products')}, ${count(done.skus, 'SKUs')} in ${seconds()} s`);
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
        const errors: CsvFault[] = [];
        const done = await importProducts(runtime.sql, input, {
          stockOwner: await openStockOwner(runtime, context.modulesOf(runtime.config)),
          locale: runtime.settings.get(shopLocale),
          dryRun: options.dryRun ?? false,
          onFault(fault) {
            if (errors.length < maxFaults) errors.push(fault);
            process.stderr.write(`line ${fault.line}: ${fault.field}: ${fault.message}\n`);
          },
          onProgress: ({ lines, failed }) =>
            report(lines, `${count(lines, 'lines')}, ${count(failed, 'products refused')}`),
        });
        if (done.faults > 0) process.exitCode = exitCodes.failed;
        if (options.json) return printJson({ ...done, seconds: seconds(), lines_per_second: rate(done.lines), errors });
        const counts = (['created', 'updated', 'unchanged', 'failed'] as const).map((name) => count(done[name], name));
        print(`${count(done.lines, 'lines')}: ${counts.join(', ')} products in ${seconds()} s`);
        if (done.stock_ignored) print('stock and stock_before were ignored: warehouses own the stock');
        if (options.dryRun) print('nothing was written (--dry-run)');
      })
      .finally(() => input.destroy());
  };

export const catalogCommand: ModuleCommand = {
  name: 'catalog',
  sort: 210,
  register(program, context) {
    const group = program.command('catalog').description('export and import the catalogue as a CSV file');
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
  },
};
