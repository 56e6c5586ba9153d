import { byteOrderMark, toCsv } from '@tradepost/csv';
import type { Queryable } from '@tradepost/postgres';
import type { AdminOrderFilter } from '../orders/order-page-store.ts';
import { scanOrders } from './order-csv-store.ts';
import { type CellStyle, cellsOf, columnsOf, type ShownColumns } from './order-record.ts';

/** Orders that a statement reads. */
const batch = 500;

export type ExportOptions = ShownColumns & CellStyle & { readonly filter: AdminOrderFilter };
/** A piece of a file, with the numbers of orders and lines in it. */
export type ExportedPiece = { text: string; orders: number; lines: number };

/**
 * The matching orders as CSV text in pieces, newest first and in constant memory. Each piece is read by two statements: on a
 * transaction the file is one snapshot, on a pool a slow reader holds no connection.
 */
export async function* exportOrders(sql: Queryable, options: ExportOptions): AsyncGenerator<ExportedPiece> {
  const columns = columnsOf(options);
  yield { text: byteOrderMark + toCsv([columns]), orders: 0, lines: 0 };
  for await (const orders of scanOrders(sql, options.filter, { batch, withShoppers: options.receivers })) {
    const rows = orders.flatMap((order) =>
      cellsOf(order, options).map((cells) => columns.map((column) => cells[column] ?? '')),
    );
    yield { text: toCsv(rows), orders: orders.length, lines: rows.length };
  }
}
