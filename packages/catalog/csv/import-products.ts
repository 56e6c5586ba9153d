import type { Locale } from '@tradepost/core';
import { type CsvFault, readCsvLines } from '@tradepost/csv';
import type { Sql, Transaction } from '@tradepost/postgres';
import { shopLocale } from '@tradepost/runtime';
import { announceStock, hasStockCells, withoutStockCells } from '../stock-ownership/enforce-stock-owner.ts';
import { ownStock, type StockOwner } from '../stock-ownership/stock-owner.ts';
import { categoriesIn } from './csv-categories.ts';
import { catalogCsv } from './csv-columns.ts';
import { type Draft, draftOf, groupLines } from './csv-drafts.ts';
import { csvFault } from './csv-faults.ts';
import {
  insertProducts,
  insertSkus,
  lastProductId,
  lockImport,
  lockProducts,
  lockSkuRows,
  newProductIds,
  passProductId,
  replaceImagesOf,
  type Stored,
  selectProductsByCode,
  updateProducts,
  updateSkus,
} from './csv-store.ts';
import { type ImportPlan, planProduct, type Refused } from './plan-import.ts';

/** The number of products in one transaction. It limits memory, statements, and the time that rows are locked. */
const batchProducts = 500;
const batchLines = 4_000;
/** An id this far above the last one is a typing error. */
const maxIdGap = 1_000_000;
const attempts = 3;

export type Imported = {
  lines: number;
  created: number;
  updated: number;
  unchanged: number;
  /** Products with a refused line. The import continues with the others. */
  failed: number;
  /** Lines and fields that were refused. */
  faults: number;
  dry_run: boolean;
  /** The file has stock values, which are ignored because warehouses own the stock. */
  stock_ignored: boolean;
};
/** The context of a batch. `locale` is the language of the shop. */
type Mode = { dryRun: boolean; stockOwner: StockOwner; locale: Locale };
type Options = Partial<Mode> & { onFault?: (fault: CsvFault) => void; onProgress?: (done: Imported) => void };
type Outcome = ImportPlan | Refused;
/** The products that this import has written or found: id to line. A product may occur once in a file. */
type Seen = Map<number, number>;

const isRefused = (outcome: Outcome): outcome is Refused => 'faults' in outcome;
const codesOf = (draft: Draft) => [
  ...new Set(draft.skus.map((sku) => (sku.sku_code ?? '').toLowerCase()).filter(Boolean)),
];

type Matched = { draft: Draft; id: number | null };

/** Finds the product of each draft by its id, or without an id by the codes of its SKUs. */
async function matchDrafts(
  tx: Transaction,
  drafts: readonly Draft[],
  seen: Seen,
  last: number,
): Promise<(Matched | Refused)[]> {
  const byCode = await selectProductsByCode(tx, [...new Set(drafts.flatMap(codesOf))]);
  /** SKU codes of new products in the same batch. */
  const claimed = new Map<string, number>();
  const taken = new Map(seen);
  const match = (draft: Draft): Matched | CsvFault => {
    const codes = codesOf(draft);
    const owners = [...new Set(codes.flatMap((code) => byCode.get(code) ?? []))];
    const line = draft.skus[0]?.line ?? draft.line;
    if (draft.product_id !== null) {
      const id = draft.product_id;
      if (id > last + maxIdGap) return csvFault(draft.line, 'product_id', 'id_too_high', { last });
      const other = owners.find((owner) => !taken.has(owner));
      if (!owners.includes(id) && other !== undefined)
        return csvFault(draft.line, 'product_id', 'other_product', { id, other });
      return { draft, id };
    }
    if (owners.length > 1) return csvFault(line, 'sku_code', 'several_products', { ids: owners.join(', ') });
    if (owners.length === 1) return { draft, id: owners[0]! };
    if (codes.length === 0) return csvFault(line, 'sku_code', 'no_code');
    const twin = codes.map((code) => claimed.get(code)).find((at) => at !== undefined);
    if (twin !== undefined) return csvFault(line, 'sku_code', 'repeated', { line: twin, id: codes.join(', ') });
    for (const code of codes) claimed.set(code, draft.line);
    return { draft, id: null };
  };
  return drafts.map((draft) => {
    const found = match(draft);
    if (!('draft' in found)) return { draft, faults: [found] };
    const before = found.id === null ? undefined : taken.get(found.id);
    if (before !== undefined)
      return { draft, faults: [csvFault(draft.line, 'product_id', 'repeated', { line: before, id: found.id! })] };
    if (found.id !== null) taken.set(found.id, draft.line);
    return found;
  });
}

function planAll(
  matched: readonly (Matched & { id: number })[],
  stored: ReadonlyMap<number, Stored>,
  categoryIds: ReadonlyMap<Draft, number>,
  locale: Locale,
): Outcome[] {
  return matched.map(({ draft, id }) =>
    stored.get(id)?.product.deleted_at
      ? { draft, faults: [csvFault(draft.line, 'product_id', 'removed', { id })] }
      : planProduct(draft, id, stored.get(id), categoryIds.get(draft), locale),
  );
}

/** Returns `stored` with the present stock of its locked SKUs. */
function withStock(
  stored: ReadonlyMap<number, Stored>,
  now: Awaited<ReturnType<typeof lockSkuRows>>,
): Map<number, Stored> {
  return new Map(
    [...stored].map(([id, product]) => [
      id,
      { ...product, skus: product.skus.map((sku) => ({ ...sku, ...now.get(sku.id) })) },
    ]),
  );
}

async function writePlans(tx: Transaction, plans: readonly ImportPlan[], stockOwner: StockOwner): Promise<void> {
  const products = plans.flatMap((plan) => (plan.product ? [{ plan, row: plan.product }] : []));
  const inserts = products.filter(({ plan }) => plan.outcome === 'created').map(({ row }) => row);
  const updates = products.filter(({ plan }) => plan.outcome !== 'created').map(({ row }) => row);
  const pictured = plans.filter((plan) => plan.images !== null);
  const newSkus = plans.flatMap((plan) => plan.newSkus);
  const skuChanges = plans.flatMap((plan) => plan.skuChanges);
  if (inserts.length > 0) await insertProducts(tx, inserts);
  if (updates.length > 0) await updateProducts(tx, updates);
  const ids = pictured.map((plan) => plan.id);
  if (ids.length > 0)
    await replaceImagesOf(
      tx,
      ids,
      pictured.flatMap((plan) => plan.images ?? []),
    );
  const added = newSkus.length > 0 ? await insertSkus(tx, newSkus) : [];
  if (skuChanges.length > 0) await updateSkus(tx, skuChanges);
  const restocked = skuChanges.flatMap(({ id, stock }) => (stock === null ? [] : [{ id, stock }]));
  await announceStock(tx, stockOwner, [...added, ...restocked]);
}

/** One transaction for all drafts: find, lock in id order, plan by the rules of the editor, write. */
async function writeBatch(
  tx: Transaction,
  drafts: readonly Draft[],
  seen: Seen,
  { dryRun, stockOwner, locale }: Mode,
): Promise<Outcome[]> {
  await lockImport(tx);
  const last = await lastProductId(tx);
  const matches = await matchDrafts(tx, drafts, seen, last);
  const refused = matches.filter(isRefusal);
  const found = matches.filter((match): match is Matched => !isRefusal(match));
  const known = found.flatMap((match) => match.id ?? []);
  let stored = await lockProducts(tx, known, !dryRun);
  if (!dryRun) {
    const highest = Math.max(0, ...known);
    if (highest > last) await passProductId(tx, highest);
  }
  const nameless = found.filter((match) => match.id === null).length;
  // A dry run takes no ids from the sequence. Any unused id is good enough.
  const fresh = dryRun || nameless === 0 ? found.map((_, n) => -1 - n) : await newProductIds(tx, nameless);
  const matched = found.map((match) => ({ ...match, id: match.id ?? fresh.shift()! }));
  const categoryIds = await categoriesIn(tx, matched, stored, dryRun);
  let outcomes = planAll(matched, stored, categoryIds, locale);
  const touched = outcomes.flatMap((outcome) => (isRefused(outcome) ? [] : outcome.skuChanges.map((sku) => sku.id)));
  if (touched.length > 0 && !dryRun) {
    stored = withStock(stored, await lockSkuRows(tx, touched));
    outcomes = planAll(matched, stored, categoryIds, locale);
  }
  const plans = outcomes.filter((outcome): outcome is ImportPlan => !isRefused(outcome));
  if (!dryRun) await writePlans(tx, plans, stockOwner);
  return [...outcomes, ...refused];
}
const isRefusal = (match: Matched | Refused): match is Refused => 'faults' in match;

const stateOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '');
/** Deadlock, serialization failure or lock timeout: a repeat may succeed. */
const isPassing = (error: unknown) => /^(40...|55P03)$/.test(stateOf(error));
/** A fault of the data: the products are then written one by one, to find the one at fault. */
const isOfData = (error: unknown) => /^2[23]...$/.test(stateOf(error));

async function writeDrafts(sql: Sql, drafts: readonly Draft[], seen: Seen, mode: Mode): Promise<Outcome[]> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await sql.begin((tx) => writeBatch(tx, drafts, seen, mode));
    } catch (error) {
      if (isPassing(error) && attempt < attempts) continue;
      if (!isOfData(error)) throw error;
      const [only, ...others] = drafts;
      if (only && others.length === 0)
        return [{ draft: only, faults: [csvFault(only.line, '-', 'refused', { reason: (error as Error).message })] }];
      const outcomes: Outcome[] = [];
      for (const draft of drafts) {
        const [outcome] = await writeDrafts(sql, [draft], seen, mode);
        outcomes.push(outcome!);
        remember([outcome!], seen);
      }
      return outcomes;
    }
}

function remember(outcomes: readonly Outcome[], seen: Seen): void {
  for (const outcome of outcomes) if (!isRefused(outcome)) seen.set(outcome.id, outcome.draft.line);
}

/**
 * Writes the products of a CSV file, a few hundred per transaction. Committed products stay; importing the file again
 * completes the rest. A product with a faulty line is skipped and reported, and the import continues. Memory does not
 * grow with the file, except for some 100 bytes per product. Throws CsvFileError when the file itself cannot be read.
 */
export async function importProducts(
  sql: Sql,
  input: AsyncIterable<Uint8Array>,
  options: Options = {},
): Promise<Imported> {
  const {
    dryRun = false,
    stockOwner = ownStock,
    locale = shopLocale.fallback,
    onFault = () => {},
    onProgress = () => {},
  } = options;
  const done: Imported = {
    ...{ lines: 0, created: 0, updated: 0, unchanged: 0, failed: 0, faults: 0 },
    ...{ dry_run: dryRun, stock_ignored: false },
  };
  const seen: Seen = new Map();
  const report = (faults: readonly CsvFault[]) => {
    for (const fault of faults) onFault(fault);
    done.faults += faults.length;
  };
  let batch: Draft[] = [];
  let lines = 0;
  const flush = async () => {
    const outcomes = batch.length > 0 ? await writeDrafts(sql, batch, seen, { dryRun, stockOwner, locale }) : [];
    remember(outcomes, seen);
    for (const outcome of outcomes)
      if (isRefused(outcome)) {
        done.failed += 1;
        report(outcome.faults);
      } else done[outcome.outcome] += 1;
    done.lines += lines;
    batch = [];
    lines = 0;
    onProgress(done);
  };
  for await (const item of groupLines(readCsvLines(input, catalogCsv))) {
    if (!('key' in item)) {
      report([item]);
      done.lines += 1;
      continue;
    }
    const ignored = !stockOwner.editable && hasStockCells(item);
    done.stock_ignored ||= ignored;
    const draft = draftOf(ignored ? withoutStockCells(item) : item);
    lines += draft.lines;
    if (draft.faults.length > 0) {
      done.failed += 1;
      report(draft.faults);
    } else batch.push(draft);
    if (batch.length >= batchProducts || lines >= batchLines) await flush();
  }
  await flush();
  return done;
}
