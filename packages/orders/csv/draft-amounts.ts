import { maxMinor } from '@tradepost/core';
import { amountCell, type CsvFault, type CsvLine } from '@tradepost/csv';
import { orderFault } from './import-faults.ts';
import type { OrderRecord } from './order-record.ts';

/**
 * The faults of amounts that do not add up. The audit `orders.amounts` demands the same of every order. `goods` is the sum of the
 * lines, `unpriced` says for each line whether it has no payable amount of its own.
 */
export function amountFaults(
  order: OrderRecord,
  lines: readonly CsvLine[],
  { goods, unpriced }: { goods: number; unpriced: readonly boolean[] },
): CsvFault[] {
  const { goods_amount, discount_amount, freight_amount, total_amount, items } = order;
  const first = lines[0]!.line;
  const gap = unpriced.indexOf(true);
  if (gap >= 0) return [orderFault(lines[gap]!.line, 'item_payable_amount', 'some_payable')];
  const shown = (given: number, sum: number) => ({
    given: amountCell(given),
    sum: sum < 0 ? String(sum / 100) : amountCell(sum),
  });
  if (goods > maxMinor) return [orderFault(first, 'goods_amount', 'not_amount')];
  if (goods_amount !== goods) return [orderFault(first, 'goods_amount', 'sum', shown(goods_amount, goods))];
  const due = goods_amount - discount_amount + freight_amount;
  if (total_amount !== due) return [orderFault(first, 'total_amount', 'total', shown(total_amount, due))];
  const payable = items.reduce((sum, item) => sum + item.payable_amount, 0);
  if (payable !== total_amount) return [orderFault(first, 'total_amount', 'sum', shown(total_amount, payable))];
  const above = freight_amount > 0 ? -1 : items.findIndex((item) => item.payable_amount > item.price * item.qty);
  return above < 0 ? [] : [orderFault(lines[above]!.line, 'item_payable_amount', 'above_price')];
}
