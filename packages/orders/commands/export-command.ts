import { instantInZone } from '@tradepost/core';
import type { CommandContext } from '@tradepost/module';
import { type Runtime, shopLocale, timeZone } from '@tradepost/runtime';
import {
  createProgress,
  type GlobalOptions,
  numberOf,
  openOutput,
  print,
  UsageError,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { exportOrders } from '../csv/export-orders.ts';
import { insertExport } from '../csv/export-store.ts';
import type { AdminOrderFilter } from '../orders/order-page-store.ts';
import { orderStatusOf } from '../orders/order-status.ts';
import { resolveKeyword } from '../search/order-search-store.ts';

type ExportFlags = { status?: number; from?: string; to?: string; keyword?: string; receivers: boolean; ids: boolean };

function timeOf(flag: string, text: string | undefined, zone: string, edge: 'start' | 'end'): Date | null {
  if (text === undefined) return null;
  const at = instantInZone(text, zone, edge);
  if (!at) throw new UsageError(`${flag}: a date (2026-03-01) or a time (2026-03-01T09:30:00)`);
  return at;
}

async function filterOf({ sql, settings }: Runtime, flags: ExportFlags): Promise<AdminOrderFilter> {
  const zone = settings.get(timeZone);
  const keyword = flags.keyword?.trim();
  return {
    status: orderStatusOf(flags.status ?? 0),
    time_start: timeOf('--from', flags.from, zone, 'start'),
    time_end: timeOf('--to', flags.to, zone, 'end'),
    keyword: keyword ? await resolveKeyword(sql, keyword) : null,
    ...{ pay_method: null, amount_min: null, amount_max: null, provinces: null, restrictedTo: null },
  };
}

async function exportTo(context: CommandContext, file: string, given: GlobalOptions & ExportFlags): Promise<void> {
  const { status, from, to, keyword, receivers, ids, json, ...options } = given;
  await context.withRuntime(options, async (runtime) => {
    const { sql, settings } = runtime;
    const filter = await filterOf(runtime, given);
    const shown = { filter, receivers, ids, zone: settings.get(timeZone), locale: settings.get(shopLocale) };
    const output = await openOutput(file);
    const { seconds, rate, report } = createProgress('orders');
    try {
      await sql.begin((tx) => insertExport(tx, { filter: { status, from, to, keyword }, receivers }));
      const done = { orders: 0, lines: 0 };
      await sql.begin('isolation level repeatable read read only', async (tx) => {
        for await (const { text, orders, lines } of exportOrders(tx, shown)) {
          await output.write(text);
          done.orders += orders;
          done.lines += lines;
          report(done.orders, `${numberOf(done.orders, 'order')}, ${numberOf(done.lines, 'line')}`);
        }
      });
      await output.end();
      const summary = { ...done, seconds: seconds(), orders_per_second: rate(done.orders) };
      // When the table goes to stdout, all other output goes to stderr.
      const say = file === '-' ? (text: string) => process.stderr.write(`${text}\n`) : print;
      if (json) say(JSON.stringify(summary, null, 2));
      else say(`${numberOf(done.orders, 'order')}, ${numberOf(done.lines, 'line')} in ${seconds()} s`);
    } catch (error) {
      await output.drop();
      // The reader of our output has closed the pipe.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

export function addExport(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('export [file]')
      .description('write orders, one line per item, newest first, to a file or to standard output (-)')
      .addOption(new Option('--status <number>', 'only orders in this state, 1 to 6').argParser(wholeNumber(1, 6)))
      .option('--from <time>', 'created at this time or later, in the zone of the shop')
      .option('--to <time>', 'created at this time or earlier; a date includes the whole day')
      .option('--keyword <text>', 'as in the list of orders')
      .option('--no-receivers', 'leave out names, phones, accounts and addresses')
      .option('--no-ids', 'leave out ids, which have a meaning in this shop only')
      .option('--json', 'print the summary as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost orders export march.csv --from 2026-03-01 --to 2026-03-31\n' +
          '  $ tradepost orders export - --status 2 --no-receivers\n\nColumns: packages/orders/CSV.md',
      ),
  ).action((file: string | undefined, options: GlobalOptions & ExportFlags) => exportTo(context, file ?? '-', options));
}
