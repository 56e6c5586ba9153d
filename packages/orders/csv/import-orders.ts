import { type CsvFault, readCsvLines } from '@tradepost/csv';
import type { ImportedOrderReader } from '@tradepost/module';
import type { Sql, Transaction } from '@tradepost/postgres';
import { faultCode } from '@tradepost/runtime';
import { checkFile } from './check-file.ts';
import { orderFault, orderFileError } from './import-faults.ts';
import { finishImport, insertImported, lockImport, reserveImport, type StoredImport } from './import-store.ts';
import { type MatchShoppers, planOrders } from './imported-rows.ts';
import { selectRecords } from './order-csv-store.ts';
import { draftOf, groupOrders, type OrderDraft, ordersCsv } from './order-drafts.ts';
import { type CellStyle, cellsOf, idColumns, type OrderRecord, shopperColumns } from './order-record.ts';

/** The orders and lines of one transaction. They limit memory, and the time that another import waits. */
const batchOrders = 500;
const batchLines = 2_000;
const attempts = 3;

export type ImportedOrders = {
  lines: number;
  created: number;
  /** Orders that the shop has already, exactly like this. */
  unchanged: number;
  /** Orders with a refused line. The import continues with the others. */
  failed: number;
  /** Lines and fields that were refused. */
  faults: number;
  dry_run: boolean;
};
export type ImportOptions = CellStyle & {
  readonly now: Date;
  readonly dryRun: boolean;
  readonly match: MatchShoppers;
  readonly readers: readonly ImportedOrderReader[];
  readonly onFault: (fault: CsvFault) => void;
  readonly onProgress: (done: ImportedOrders) => void;
};
type Checked = OrderDraft & { record: OrderRecord };
type Outcome = 'created' | 'unchanged' | CsvFault[];

const ignored: readonly string[] = [...idColumns, 'status_label'];

/** The first difference of each line to the order that the shop has. A shopper of this shop may have another name by now. */
function differences(draft: Checked, stored: OrderRecord & { isImported: boolean }, style: CellStyle): CsvFault[] {
  const { lines, record } = draft;
  if (stored.items.length !== lines.length) {
    const counts = { stored: stored.items.length, given: lines.length };
    return [orderFault(lines[0]!.line, '-', 'stored_lines', counts)];
  }
  const kept = cellsOf(stored, style);
  const left: readonly string[] = stored.isImported ? ignored : [...ignored, ...shopperColumns];
  return cellsOf(record, style).flatMap((given, index) => {
    const { line, cells } = lines[index]!;
    const column = [...cells.keys()].find((name) => !left.includes(name) && given[name] !== kept[index]![name]);
    if (!column) return [];
    return [orderFault(line, column, 'stored', { stored: kept[index]![column] || '""' })];
  });
}

/** One transaction: the orders that the shop does not have are written. A fixed number of statements. */
async function writeBatch(
  tx: Transaction,
  drafts: readonly Checked[],
  file: StoredImport | null,
  options: ImportOptions,
): Promise<Outcome[]> {
  if (!options.dryRun) await lockImport(tx);
  const stored = await selectRecords(tx, [...new Set(drafts.map(({ record }) => record.order_no))]);
  const lineOf = new Map<string, number>();
  const fresh: Checked[] = [];
  const outcomes = drafts.map((draft): Outcome => {
    const { record, lines } = draft;
    const before = lineOf.get(record.order_no);
    if (before !== undefined) return [orderFault(lines[0]!.line, 'order_no', 'repeated', { line: before })];
    lineOf.set(record.order_no, lines.at(-1)!.line);
    const known = stored.get(record.order_no);
    if (known) {
      const faults = differences(draft, known, options);
      return faults.length > 0 ? faults : 'unchanged';
    }
    fresh.push(draft);
    return 'created';
  });
  if (fresh.length === 0 || !file) return outcomes;
  const idOf = ({ at }: Checked) => {
    if (at >= file.orders) throw orderFileError(1, 'changed');
    return file.first_id + (file.newest_first ? file.orders - 1 - at : at);
  };
  const rows = await planOrders(
    tx,
    fresh.map((draft) => ({ id: idOf(draft), record: draft.record })),
    options.match,
  );
  await insertImported(tx, rows.orders, rows.items, rows.moves);
  for (const read of options.readers)
    await read(
      tx,
      rows.orders.map(({ id }) => id),
    );
  return outcomes;
}

/** Deadlock, serialization failure or lock timeout: a repeat may succeed. */
const isPassing = (error: unknown) => /^(40...|55P03)$/.test(faultCode(error) ?? '');

async function writeDrafts(
  sql: Sql,
  drafts: readonly Checked[],
  file: StoredImport | null,
  options: ImportOptions,
): Promise<Outcome[]> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await sql.begin((tx) => writeBatch(tx, drafts, file, options));
    } catch (error) {
      if (!isPassing(error) || attempt === attempts) throw error;
    }
}

/**
 * Writes the finished orders of a CSV file as history, some hundred per transaction: no stock, payment, event or message. The file
 * is read twice, because the place of an order in it decides its id: first to count the orders, then to write them. Committed orders
 * stay, and importing the file again completes the rest with the same ids. An order with a faulty line is skipped and reported.
 * Memory does not grow with the file. Throws CsvFileError when the file itself cannot be read.
 */
export async function importOrders(
  sql: Sql,
  open: () => AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportedOrders> {
  const { dryRun, onFault, onProgress, zone, now } = options;
  const done: ImportedOrders = { lines: 0, created: 0, unchanged: 0, failed: 0, faults: 0, dry_run: dryRun };
  const counted = dryRun ? null : await checkFile(open(), zone);
  const file = counted && counted.orders > 0 ? await reserveImport(sql, counted) : null;
  const report = (faults: readonly CsvFault[]) => {
    for (const fault of faults) onFault(fault);
    done.faults += faults.length;
  };
  let batch: Checked[] = [];
  let lines = 0;
  const flush = async () => {
    const outcomes = batch.length > 0 ? await writeDrafts(sql, batch, file, options) : [];
    for (const outcome of outcomes)
      if (typeof outcome === 'string') done[outcome] += 1;
      else {
        done.failed += 1;
        report(outcome);
      }
    done.lines += lines;
    batch = [];
    lines = 0;
    onProgress(done);
  };
  for await (const item of groupOrders(readCsvLines(open(), ordersCsv))) {
    if (!('lines' in item)) {
      report([item]);
      done.lines += 1;
      continue;
    }
    const draft = draftOf(item, { zone, now });
    lines += draft.lines.length;
    if (draft.record) batch.push({ ...draft, record: draft.record });
    else {
      done.failed += 1;
      report(draft.faults);
    }
    if (batch.length >= batchOrders || lines >= batchLines) await flush();
  }
  await flush();
  if (file) await finishImport(sql, file.id);
  return done;
}
