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

const maxSkus = 100;

function skuIds(text: string, before: number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('A SKU id is a positive whole number.');
  if (before.length >= maxSkus) throw new InvalidArgumentError(`At most ${maxSkus} SKUs.`);
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
  const missing = asked.filter((id) => !rows.some((row) => row.sku_id === id));
  if (missing.length > 0)
    print(`\nthe answer has no stock of SKU ${missing.join(', ')}: the shop shows its stock column instead`);
}

const ping =
  (context: CommandContext) =>
  async ({ sku, ...options }: GlobalOptions & { sku?: number[] }): Promise<void> => {
    const { asked, result } = await context.withRuntime(options, async (runtime) => {
      const found = sku ?? (await selectNewestSkus(runtime.sql, 3));
      // A shop without SKUs requests SKU 1: the ping tests whether the warehouse answers.
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
      .description('request sellable stock from the configured external warehouse, and report what is wrong')
      .option('--sku <id...>', 'request these SKUs (default: the three newest)', skuIds)
      .option('--json', 'print the answer as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms ping\n  $ tradepost wms ping --sku 7 8 --json\n\n' +
          'The command works before inventory.provider is external_wms, and changes nothing at the warehouse.\n\n' +
          'Exit codes: 0 the warehouse answers, 1 it does not answer or refuses.',
      ),
  ).action(ping(context));
}
