import { AppError } from '@tradepost/core';
import { type CsvFault, type CsvFormat, type CsvLine, csvFaults, readCsvLines, textOf } from '@tradepost/csv';
import { lineText, text } from '@tradepost/http';
import { type NumberedOrder, orderStatus, selectOrdersByNumber } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Write } from '@tradepost/runtime';
import { z } from 'zod';
import type { RecordDeps } from '../record-shipments.ts';
import { shipOrders } from '../ship-orders.ts';
import { type FirstShipment, selectFirstShipments } from './shipment-csv-store.ts';

const format: CsvFormat = {
  columns: ['order_no', 'company', 'tracking_no', 'remark'],
  needs: [['order_no'], ['company'], ['tracking_no']],
};
/** Lines of one transaction. */
const batch = 500;
/** The numbers of a file are kept in memory, so that a repeated one is found. */
const maxLines = 200_000;

const { fault, fileError } = csvFaults({
  order_no: 'must be the number of an order',
  unknown: 'no order has this number. Spreadsheet programs round long numbers: format the column as text',
  repeated: 'line {line} already has this order',
  other: 'the order was shipped already, with {company} {tracking_no}',
  invalid: '{reason}',
  refused: '{reason}',
  too_many: 'the file has more than {max} lines: divide it',
});

const row = z.object({
  company: lineText(32).min(1),
  tracking_no: lineText(64).min(1),
  remark: text(500).default(''),
});
type Parcel = { line: number; order_no: string; company: string; tracking_no: string; remark: string };

export type ImportedShipments = { lines: number; shipped: number; unchanged: number; failed: number };
export type ImportOptions = {
  readonly dryRun: boolean;
  readonly onFault: (fault: CsvFault) => void;
  readonly onProgress?: (done: ImportedShipments) => void;
};

/** The parcel of a line, or its first fault. */
function parcelOf({ line, cells }: CsvLine): Parcel | CsvFault {
  const cell = (name: string) => textOf(cells.get(name) ?? '').trim();
  const order_no = cell('order_no');
  if (!/^\d{1,32}$/.test(order_no)) return fault(line, 'order_no', 'order_no');
  const checked = row.safeParse({ company: cell('company'), tracking_no: cell('tracking_no'), remark: cell('remark') });
  if (checked.success) return { line, order_no, ...checked.data };
  const [issue] = checked.error.issues;
  return fault(line, String(issue!.path[0]), 'invalid', { reason: issue!.message });
}

/** Whether the order was shipped in just this way, for example by an earlier import. */
const isSame = (parcel: Parcel, before: FirstShipment) =>
  before.company === parcel.company.toUpperCase() && before.tracking_no === parcel.tracking_no;

/** The outcome of a batch is rolled back: it says what an import would do. */
class DryRun extends Error {}

function dryWrite(deps: RecordDeps): Write {
  return async <T>(work: (tx: Transaction) => Promise<T>) => {
    let outcome!: T;
    await deps.runtime.sql
      .begin(async (tx) => {
        outcome = await work(tx);
        throw new DryRun();
      })
      .catch((error) => {
        if (!(error instanceof DryRun)) throw error;
      });
    return outcome;
  };
}

async function shipBatch(
  deps: RecordDeps,
  parcels: readonly Parcel[],
  done: ImportedShipments,
  { dryRun, onFault }: ImportOptions,
): Promise<void> {
  const { sql } = deps.runtime;
  const orders = await selectOrdersByNumber(sql, [...new Set(parcels.map(({ order_no }) => order_no))]);
  const shipped = [...orders.values()].filter(({ status }) => status !== orderStatus.paid).map(({ id }) => id);
  const before = await selectFirstShipments(sql, shipped);
  const fail = (found: CsvFault) => {
    done.failed += 1;
    onFault(found);
  };
  const open: { parcel: Parcel; order: NumberedOrder }[] = [];
  for (const parcel of parcels) {
    const order = orders.get(parcel.order_no);
    const first = order && before.get(order.id);
    if (!order) fail(fault(parcel.line, 'order_no', 'unknown'));
    else if (!first) open.push({ parcel, order });
    else if (isSame(parcel, first)) done.unchanged += 1;
    else fail(fault(parcel.line, 'order_no', 'other', first));
  }
  const requests = open.map(({ parcel: { company, tracking_no, remark }, order }) => ({
    ...{ order_id: order.id, company, tracking_no, remark },
    ...{ delivery_type: 'express' as const, rider_name: '', rider_phone: '' },
  }));
  const write: Write = dryRun ? dryWrite(deps) : (work) => sql.begin((tx) => work(tx)) as never;
  const outcomes = requests.length > 0 ? await shipOrders(deps, requests, 0, write) : [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome === true) done.shipped += 1;
    else if (outcome instanceof AppError)
      fail(fault(open[index]!.parcel.line, '-', 'refused', { reason: outcome.message }));
    else throw outcome;
  }
}

/**
 * Ships the orders of a CSV file: the first shipment of paid orders, as in the console, in transactions of 500 lines. Faulty
 * lines are reported, and all others are shipped. A line whose order has exactly this first shipment is unchanged, so a
 * file can be imported again.
 */
export async function importShipments(
  deps: RecordDeps,
  input: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportedShipments> {
  const done: ImportedShipments = { lines: 0, shipped: 0, unchanged: 0, failed: 0 };
  const lines = new Map<string, number>();
  let waiting: Parcel[] = [];
  const flush = async () => {
    await shipBatch(deps, waiting, done, options);
    waiting = [];
    options.onProgress?.(done);
  };
  for await (const item of readCsvLines(input, format)) {
    done.lines += 1;
    if (done.lines > maxLines) throw fileError(item.line, 'too_many', { max: maxLines });
    const parcel = 'cells' in item ? parcelOf(item) : item;
    const repeated = 'order_no' in parcel ? lines.get(parcel.order_no) : undefined;
    if (!('order_no' in parcel) || repeated !== undefined) {
      done.failed += 1;
      options.onFault('order_no' in parcel ? fault(parcel.line, 'order_no', 'repeated', { line: repeated! }) : parcel);
      continue;
    }
    lines.set(parcel.order_no, parcel.line);
    waiting.push(parcel);
    if (waiting.length === batch) await flush();
  }
  if (waiting.length > 0) await flush();
  return done;
}
