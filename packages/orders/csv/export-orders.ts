import { isoInZone, type Locale, labelOf } from '@tradepost/core';
import { amountCell, byteOrderMark, textCell, toCsv } from '@tradepost/csv';
import { selectNicknames } from '@tradepost/identity';
import type { Sql } from '@tradepost/postgres';
import { paymentMethodLabels } from '../orders/order.ts';
import type { AdminOrderFilter } from '../orders/order-page-store.ts';
import { orderStatusLabels } from '../orders/order-status.ts';
import { type ExportedOrder, scanOrders } from './order-csv-store.ts';

/** On every line of an order. */
const keyColumns = ['order_no', 'order_id', 'status', 'status_label', 'created_at'] as const;
/** On the first line of an order, so that sums over the lines are right. CSV.md describes each. */
const orderColumns = [
  ...['paid_at', 'payment_method', 'goods_amount', 'discount_amount', 'freight_amount', 'total_amount'],
  ...['tracking_no', 'remark', 'shopper_id', 'nickname'],
];
const receiverColumns = ['receiver_name', 'receiver_phone', 'province', 'city', 'district', 'address'];
const itemColumns = ['product_id', 'sku_id', 'title', 'specs', 'activity', 'price', 'qty', 'payable_amount'];

const batch = 500;

export type ExportOptions = {
  readonly filter: AdminOrderFilter;
  /** False leaves out the columns that say who gets the goods, and where. */
  readonly receivers: boolean;
  readonly zone: string;
  readonly locale: Locale;
};
type Cells = Readonly<Record<string, string>>;

function orderCells(order: ExportedOrder, nickname: string, { zone, locale, receivers }: ExportOptions): Cells {
  const { name, phone, province, city, district, detail } = order.address_snapshot;
  return {
    paid_at: order.paid_at ? isoInZone(order.paid_at, zone) : '',
    payment_method: textCell(labelOf(paymentMethodLabels, order.payment_method, locale)),
    goods_amount: amountCell(order.goods_amount),
    discount_amount: amountCell(order.discount_amount),
    freight_amount: amountCell(order.freight_amount),
    total_amount: amountCell(order.total_amount),
    tracking_no: textCell(order.tracking_no),
    remark: textCell(order.remark),
    shopper_id: String(order.user_id),
    ...(receivers
      ? {
          nickname: textCell(nickname),
          receiver_name: textCell(name),
          receiver_phone: textCell(phone),
          province: textCell(province),
          city: textCell(city),
          district: textCell(district),
          address: textCell(detail),
        }
      : {}),
  };
}

const itemCells = (item: ExportedOrder['items'][number]): Cells => ({
  product_id: String(item.product_id),
  sku_id: String(item.sku_id),
  title: textCell(item.title),
  specs: textCell(item.attrs.map(({ name, value }) => `${name}: ${value}`).join('; ')),
  activity: textCell(item.activity_title),
  price: amountCell(item.price),
  qty: String(item.qty),
  payable_amount: amountCell(item.payable_amount),
});

function rowsOf(
  order: ExportedOrder,
  nickname: string,
  columns: readonly string[],
  options: ExportOptions,
): string[][] {
  const key: Cells = {
    order_no: order.order_no,
    order_id: String(order.id),
    status: String(order.status),
    status_label: labelOf(orderStatusLabels, order.status, options.locale),
    created_at: isoInZone(order.created_at, options.zone),
  };
  const first = orderCells(order, nickname, options);
  const items = order.items.length > 0 ? order.items.map(itemCells) : [{}];
  return items.map((item, index) => {
    const cells: Cells = { ...key, ...(index === 0 ? first : {}), ...item };
    return columns.map((column) => cells[column] ?? '');
  });
}

export type ExportedOrders = { orders: number; lines: number };

/** The matching orders as CSV text in pieces, newest first, from one snapshot and in constant memory. */
export async function exportOrders(
  sql: Sql,
  options: ExportOptions,
  write: (text: string) => Promise<void>,
  onProgress: (done: ExportedOrders) => void = () => {},
): Promise<ExportedOrders> {
  const done = { orders: 0, lines: 0 };
  const shown = options.receivers ? receiverColumns : [];
  const own = options.receivers ? orderColumns : orderColumns.filter((name) => name !== 'nickname');
  const columns = [...keyColumns, ...own, ...shown, ...itemColumns.map((name) => `item_${name}`)];
  const plain = columns.map((name) => name.replace(/^item_/, ''));
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    await write(byteOrderMark + toCsv([columns]));
    for await (const orders of scanOrders(tx, options.filter, batch)) {
      const nicknames = options.receivers
        ? await selectNicknames(tx, [...new Set(orders.map(({ user_id }) => user_id))])
        : new Map<number, string>();
      const rows = orders.flatMap((order) => rowsOf(order, nicknames.get(order.user_id) ?? '', plain, options));
      await write(toCsv(rows));
      done.orders += orders.length;
      done.lines += rows.length;
      onProgress(done);
    }
  });
  return done;
}
