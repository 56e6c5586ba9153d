import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { CsvFault } from '@tradepost/csv';
import { type CommandContext, importedOrderReaders, staticEntriesOf } from '@tradepost/module';
import { shopLocale, timeZone } from '@tradepost/runtime';
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
import { importOrders } from '../csv/import-orders.ts';

type ImportFlags = GlobalOptions & { dryRun?: boolean; matchAccounts?: boolean };

/** Calls `work` with the path of the file. Standard input is kept in a private file, because an import reads it twice. */
async function withFile<T>(file: string, work: (path: string) => Promise<T>): Promise<T> {
  if (file !== '-') {
    const input = createReadStream(file);
    await once(input, 'open').finally(() => input.destroy());
    return work(file);
  }
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-orders-'));
  try {
    const path = join(folder, 'orders.csv');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const importFrom =
  (context: CommandContext) =>
  (file: string, { dryRun = false, matchAccounts = false, json, ...options }: ImportFlags): Promise<void> =>
    withFile(file, (path) =>
      context.withRuntime(options, async ({ sql, settings, now, config }) => {
        const { seconds, rate, report } = createProgress('lines');
        const { errors, onFault } = reportFaults<CsvFault>();
        const done = await importOrders(sql, () => createReadStream(path), {
          ...{ dryRun, now: now(), zone: settings.get(timeZone), locale: settings.get(shopLocale) },
          match: matchAccounts ? 'account' : 'phone',
          readers: staticEntriesOf(context.modulesOf(config))(importedOrderReaders),
          onFault,
          onProgress: ({ lines, failed }) =>
            report(lines, `${numberOf(lines, 'line')}, ${numberOf(failed, 'order')} refused`),
        });
        if (done.faults > 0) process.exitCode = exitCodes.failed;
        if (json) return printJson({ ...done, seconds: seconds(), lines_per_second: rate(done.lines), errors });
        const counts = (['created', 'unchanged', 'failed'] as const).map((name) => countOf(done[name], name));
        print(`${numberOf(done.lines, 'line')}: ${counts.join(', ')} orders in ${seconds()} s`);
        if (dryRun) print('nothing was written (--dry-run)');
      }),
    );

export function addImport(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('import <file>')
      .description('write the finished orders of an older shop from a file or from standard input (-), as history')
      .option('--dry-run', 'check every line and count the orders, but write nothing')
      .option(
        '--match-accounts',
        'find shoppers also by shopper_account: the user names of both shops are the same people',
      )
      .option('--json', 'print the summary and the faults as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost orders import orders.csv --dry-run\n' +
          '  $ tradepost orders export - --status 4 --no-ids | tradepost orders import - --data /srv/other\n\n' +
          'Columns: packages/orders/CSV.md. Exit code 1 when a line was refused; the other orders are written.',
      ),
  ).action(importFrom(context));
}
