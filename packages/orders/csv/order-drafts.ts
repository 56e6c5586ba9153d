import { allocate, instantInZone, maxMinor, toMinor } from '@tradepost/core';
import { amountOf, type CsvFault, type CsvFormat, type CsvLine, integerOf, textOf } from '@tradepost/csv';
import { isStorable } from '@tradepost/http';
import { maxLines } from '../limits.ts';
import { orderStatus } from '../orders/order-status.ts';
import { paymentMethodLabels } from '../orders/payment-methods.ts';
import { amountFaults } from './draft-amounts.ts';
import { orderFault } from './import-faults.ts';
import { columnsOf, type OrderRecord, type RecordItem } from './order-record.ts';

export const ordersCsv: CsvFormat = {
  columns: columnsOf({ receivers: true, ids: true }),
  needs: [['order_no'], ['status'], ['created_at'], ['item_title'], ['item_price'], ['item_qty']],
};

/** The lines of one order. `at` is its place in the file, from 0. */
export type OrderLines = { at: number; lines: CsvLine[]; faults: CsvFault[] };
/** The order of these lines, checked on its own. Null when it has faults. */
export type OrderDraft = OrderLines & { record: OrderRecord | null };
export type DraftContext = { readonly zone: string; readonly now: Date };

const numberOf = ({ cells }: CsvLine) => textOf(cells.get('order_no') ?? '').trim();

/**
 * Lines that follow each other and have the same number, as one order. A line that cannot be read may belong to the order before
 * it or after it, so it refuses both. Memory is bounded by the lines of an order.
 */
export async function* groupOrders(lines: AsyncIterable<CsvLine | CsvFault>): AsyncGenerator<OrderLines | CsvFault> {
  let group: OrderLines | null = null;
  let at = 0;
  let extra = 0;
  let isAfterBroken = false;
  for await (const item of lines) {
    if (!('cells' in item)) {
      yield item;
      isAfterBroken = true;
      if (group && group.faults.length === 0) group.faults.push(orderFault(group.lines[0]!.line, '-', 'broken'));
      continue;
    }
    if (group && numberOf(group.lines[0]!) === numberOf(item)) {
      if (group.lines.length < maxLines) group.lines.push(item);
      else if (++extra === 1) group.faults.push(orderFault(item.line, '-', 'too_many_lines', { max: maxLines }));
    } else {
      if (group) yield group;
      group = { at, lines: [item], faults: isAfterBroken ? [orderFault(item.line, '-', 'broken')] : [] };
      at += 1;
      extra = 0;
    }
    isAfterBroken = false;
  }
  if (group) yield group;
}

const maxText: Readonly<Record<string, number>> = {
  ...{ payment_method: 32, tracking_no: 64, remark: 500, nickname: 64, shopper_account: 64, shopper_phone: 32 },
  ...{ receiver_name: 64, receiver_phone: 32, province: 64, city: 64, district: 64, address: 256 },
  ...{ item_sku_code: 64, item_title: 255, item_specs: 4000, item_activity: 255 },
};

/** Reads the cells of one order, and collects their faults. */
function openReader({ lines, faults }: OrderLines, { zone, now }: DraftContext) {
  const add = (
    line: number,
    column: string,
    ...fault: Parameters<typeof orderFault> extends [number, string, ...infer R] ? R : never
  ) => {
    faults.push(orderFault(line, column, ...fault));
    return null;
  };
  /** The cell of an order: on its first line, and the same or empty on the others. */
  const cellOf = (column: string): { line: number; cell: string } => {
    const [first] = lines;
    const found = { line: first!.line, cell: first!.cells.get(column) ?? '' };
    for (const { line, cells } of lines.slice(1)) {
      const cell = cells.get(column) ?? '';
      if (cell !== '' && cell !== found.cell) add(line, column, 'differs', { line: found.line });
    }
    return found;
  };
  const textAt = (line: number, column: string, cell: string): string => {
    const text = textOf(cell);
    const max = maxText[column]!;
    if (text.length > max) add(line, column, 'too_long', { max });
    else if (!isStorable(text)) add(line, column, 'unstorable');
    return text;
  };
  const amountAt = (line: number, column: string, cell: string): number | null => {
    const text = textOf(cell.trim());
    if (text === '') return null;
    const amount = amountOf(text);
    if (amount === null || amount * 100 > maxMinor) {
      add(line, column, 'not_amount');
      return 0;
    }
    return toMinor(amount);
  };
  return {
    add,
    text(column: string) {
      const { line, cell } = cellOf(column);
      return textAt(line, column, cell);
    },
    /** Null when the cell is empty. */
    amount(column: string) {
      const { line, cell } = cellOf(column);
      return amountAt(line, column, cell);
    },
    time(column: string): Date | null {
      const { line, cell } = cellOf(column);
      const text = textOf(cell.trim());
      if (text === '') return null;
      const at = instantInZone(text, zone, 'start');
      if (!at) return add(line, column, 'not_time');
      return at > now ? add(line, column, 'future') : at;
    },
    plain: (column: string) => textOf(cellOf(column).cell).trim(),
    item({ line, cells }: CsvLine): Omit<RecordItem, 'payable_amount'> & { payable_amount: number | null } {
      const cell = (column: string) => cells.get(column) ?? '';
      const price = amountAt(line, 'item_price', cell('item_price'));
      if (price === null) add(line, 'item_price', 'needed');
      const qty = integerOf(textOf(cell('item_qty').trim()));
      if (qty === null || qty < 1 || qty > 1_000_000) add(line, 'item_qty', 'not_quantity');
      const title = textAt(line, 'item_title', cell('item_title'));
      if (title.trim() === '') add(line, 'item_title', 'needed');
      return {
        ...{ product_id: 0, sku_id: 0, title, price: price ?? 0, qty: qty ?? 1 },
        sku_code: textAt(line, 'item_sku_code', cell('item_sku_code')),
        specs: textAt(line, 'item_specs', cell('item_specs')),
        activity: textAt(line, 'item_activity', cell('item_activity')),
        payable_amount: amountAt(line, 'item_payable_amount', cell('item_payable_amount')),
      };
    },
  };
}
type Reader = ReturnType<typeof openReader>;

/** The first 13 digits of a number of this shop are its time in milliseconds. */
const mayComeLater = (number: string, now: Date) =>
  /^\d{19}$/.test(number) && Number(number.slice(0, 13)) > now.getTime();

function keyOf({ add, plain, time }: Reader, line: number, now: Date) {
  const order_no = plain('order_no');
  if (!/^[A-Za-z0-9][\w./-]{0,63}$/.test(order_no)) add(line, 'order_no', 'order_no');
  else if (mayComeLater(order_no, now)) add(line, 'order_no', 'future_number');
  const status = plain('status');
  const finished: readonly string[] = [String(orderStatus.completed), String(orderStatus.cancelled)];
  if (!finished.includes(status)) add(line, 'status', 'unfinished');
  const hadCreated = plain('created_at') !== '';
  const created_at = time('created_at');
  if (!hadCreated) add(line, 'created_at', 'needed');
  const hadPaid = plain('paid_at') !== '';
  const paid_at = time('paid_at');
  if (status === String(orderStatus.completed) && !hadPaid) add(line, 'paid_at', 'needed');
  if (paid_at && created_at && paid_at < created_at) add(line, 'paid_at', 'before_created');
  return { order_no, status: Number(status), created_at: created_at ?? now, paid_at };
}

/** The key of a payment method: of its label in any language, or the text itself for a method of an older shop. */
const methodOf = (text: string): string =>
  Object.entries(paymentMethodLabels).find(([, labels]) => Object.values(labels).includes(text))?.[0] ?? text;

/** Checks the lines of an order without the shop. Amounts that the file leaves out are calculated. */
export function draftOf(group: OrderLines, context: DraftContext): OrderDraft {
  const reader = openReader(group, context);
  const { text, amount } = reader;
  const [first] = group.lines;
  const key = keyOf(reader, first!.line, context.now);
  const items = group.lines.map((line) => reader.item(line));
  const goods = items.reduce((sum, { price, qty }) => sum + price * qty, 0);
  const discount = amount('discount_amount') ?? 0;
  const freight = amount('freight_amount') ?? 0;
  const given = { goods_amount: amount('goods_amount'), total_amount: amount('total_amount') };
  const total = given.total_amount ?? Math.max(0, goods - discount + freight);
  const shares = items.every(({ payable_amount }) => payable_amount === null)
    ? allocate(
        Math.min(total, Number.MAX_SAFE_INTEGER),
        items.map(({ price, qty }) => price * qty),
      )
    : null;
  const record: OrderRecord = {
    ...key,
    order_id: 0,
    payment_method: methodOf(text('payment_method')),
    ...{
      goods_amount: given.goods_amount ?? goods,
      discount_amount: discount,
      freight_amount: freight,
      total_amount: total,
    },
    ...{ tracking_no: text('tracking_no'), remark: text('remark') },
    shopper: { id: 0, nickname: text('nickname'), account: text('shopper_account'), phone: text('shopper_phone') },
    receiver: {
      ...{ name: text('receiver_name'), phone: text('receiver_phone') },
      ...{ province: text('province'), city: text('city'), district: text('district'), detail: text('address') },
    },
    items: items.map((item, index) => ({ ...item, payable_amount: item.payable_amount ?? shares?.[index] ?? 0 })),
  };
  if (group.faults.length === 0)
    group.faults.push(
      ...amountFaults(record, group.lines, {
        goods,
        unpriced: shares ? [] : items.map((item) => item.payable_amount === null),
      }),
    );
  return { ...group, record: group.faults.length === 0 ? record : null };
}
