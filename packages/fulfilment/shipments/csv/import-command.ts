import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { CsvFault } from '@tradepost/csv';
import { type CommandContext, staticEntriesOf } from '@tradepost/module';
import { shippingHolds } from '@tradepost/orders';
import {
  countOf,
  createProgress,
  exitCodes,
  type GlobalOptions,
  numberOf,
  print,
  printJson,
  reportFaults,
  withDatabaseOptions,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { carriers } from '../../carriers/drivers/driver.ts';
import { openSyncStarter } from '../../carriers/sync/sync-jobs.ts';
import { importShipments } from './import-shipments.ts';

const importFrom =
  (context: CommandContext) =>
  async (file: string, { dryRun = false, json, ...options }: GlobalOptions & { dryRun?: boolean }): Promise<void> => {
    const input = file === '-' ? process.stdin : createReadStream(file);
    if (file !== '-') await once(input, 'open');
    await context
      .withRuntime(options, async (runtime) => {
        const entries = staticEntriesOf(context.modulesOf(runtime.config));
        const startSync = openSyncStarter(runtime.settings, entries(carriers));
        const deps = { runtime, startSync, holds: entries(shippingHolds) };
        const { seconds, rate, report } = createProgress('lines');
        const { errors, onFault } = reportFaults<CsvFault>();
        const done = await importShipments(deps, input, {
          dryRun,
          onFault,
          onProgress: ({ lines, failed }) => report(lines, `${numberOf(lines, 'line')}, ${countOf(failed, 'refused')}`),
        });
        if (done.failed > 0) process.exitCode = exitCodes.failed;
        if (json) return printJson({ ...done, seconds: seconds(), lines_per_second: rate(done.lines), errors });
        const counts = (['shipped', 'unchanged', 'failed'] as const).map((name) => countOf(done[name], name));
        print(`${numberOf(done.lines, 'line')}: ${counts.join(', ')} in ${seconds()} s`);
        if (dryRun) print('nothing was written (--dry-run)');
      })
      .finally(() => input.destroy());
  };

export function addImport(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('import <file>')
      .description(
        'ship the paid orders of a CSV file, or of standard input (-): order_no, company, tracking_no, remark',
      )
      .option('--dry-run', 'check every line and count the shipments, but write nothing')
      .option('--json', 'print the summary and the faults as JSON')
      .addHelpText(
        'after',
        '\nExample:\n  $ tradepost shipments import parcels.csv --dry-run\n\n' +
          'Columns: packages/orders/CSV.md. Exit code 1 when a line was refused; the other orders are shipped.',
      ),
  ).action(importFrom(context));
}
