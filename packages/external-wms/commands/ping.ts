import type { CommandContext } from '@tradepost/module';
import {
  dim,
  exitCodes,
  type GlobalOptions,
  green,
  print,
  printJson,
  red,
  table,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { type Ping, pingWarehouse } from '../ping-warehouse.ts';
import { selectNewestSkus } from '../tasks/task-report-store.ts';

const mostSkus = 100;

function skuIds(text: string, before: number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('A SKU is named by its number.');
  if (before.length >= mostSkus) throw new InvalidArgumentError(`At most ${mostSkus} SKUs.`);
  return [...before, Number(text)];
}

function printPing({ ok, endpoint, app_key, ms, code, message, advice, rows }: Ping, asked: readonly number[]): void {
  if (endpoint !== '') print(`${endpoint}/stock/sellable  ${dim(`app key ${app_key || '-'}`)}`);
  const answer = code === null ? message : `code ${code}, ${message}`;
  print(`${ok ? green('ok') : red('failed')}  ${ms > 0 ? `${ms} ms  ` : ''}${answer}`);
  if (!ok) {
    print(`${dim('->')} ${advice}`);
    return;
  }
  if (rows.length > 0) {
    const number = (value: number | null) => (value === null ? '-' : String(value));
    print('');
    print(
      table([
        ['SKU', 'SELLABLE', 'RESERVED', 'ON HAND'],
        ...rows.map((row) => [
          ...[String(row.sku_id), String(row.sellable_stock), number(row.reserved), number(row.on_hand)],
        ]),
      ]),
    );
  }
  const untold = asked.filter((id) => !rows.some((row) => row.sku_id === id));
  if (untold.length > 0) print(`\nnothing is told of SKU ${untold.join(', ')}: our own numbers are shown`);
}

const ping =
  (context: CommandContext) =>
  async ({ sku, ...options }: GlobalOptions & { sku?: number[] }): Promise<void> => {
    const { asked, result } = await context.withRuntime(options, async (runtime) => {
      const found = sku ?? (await selectNewestSkus(runtime.sql, 3));
      // A shop without goods asks about something all the same: the answer is what counts.
      const ids = found.length > 0 ? found : [1];
      return { asked: ids, result: await pingWarehouse(runtime, { skuIds: ids }) };
    });
    if (!result.ok) process.exitCode = exitCodes.failed;
    if (options.json) return printJson({ ...result, asked });
    printPing(result, asked);
  };

export function addPing(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('ping')
      .description('ask the external warehouse that is set for sellable stock, and say what is wrong with it')
      .option('--sku <id...>', 'about these SKUs (default: the three newest)', skuIds)
      .option('--json', 'print the answer as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms ping\n  $ tradepost wms ping --sku 7 8 --json\n\n' +
          'It works before inventory.provider is external_wms, and changes nothing there.\n\nExit codes: 0 it answers, 1 it does not or says no.',
      ),
  ).action(ping(context));
}
