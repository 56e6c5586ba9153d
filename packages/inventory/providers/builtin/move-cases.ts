import type { Statement, Transaction } from '@tradepost/postgres';
import { insertCompletedDocuments, type ShopDocument } from '../../documents/complete-documents.ts';
import { type CaseStock, type Deducted, summedBySku } from '../../reservations/provider.ts';
import { mustKeepStock } from '../../reservations/provider-fence.ts';
import { lockSkus } from '../../stock/stock-store.ts';
import { lockEnabledWarehouses } from '../../warehouses/warehouse-store.ts';
import { selectEnabledStock } from './builtin-store.ts';
import { type Candidate, candidatesBySku, pickWarehouses } from './pick-warehouses.ts';

/** One completed document per case and warehouse. */
function documentsOf(
  cases: readonly CaseStock[],
  kind: Pick<ShopDocument, 'doc_type' | 'biz_type'>,
  warehouseOf: (line: CaseStock['lines'][number], of: CaseStock) => number,
): ShopDocument[] {
  return cases.flatMap((one) => {
    const items = new Map<number, { sku_id: number; qty: number }[]>();
    for (const line of one.lines) {
      const warehouse_id = warehouseOf(line, one);
      items.set(warehouse_id, [...(items.get(warehouse_id) ?? []), { sku_id: line.sku_id, qty: line.qty }]);
    }
    return [...items].map(
      ([warehouse_id, of]): ShopDocument => ({ ...kind, warehouse_id, biz_no: one.biz_no, remark: '', items: of }),
    );
  });
}

/** The statements that write these documents and move their stock. Throws a refusal when one of them is refused. */
async function writeDocuments(tx: Transaction, documents: readonly ShopDocument[], now: Date): Promise<Statement[]> {
  const { outcomes, statements } = await insertCompletedDocuments(tx, documents, { mirrors: true, now });
  const refusal = outcomes.find((outcome) => outcome instanceof Error);
  if (refusal) throw refusal;
  return [mustKeepStock(tx, 'in warehouses'), ...statements];
}

/**
 * Returned goods come into the warehouse that they left, also when it was disabled meanwhile, with an inbound document. Goods
 * that left no warehouse come into the first enabled one, or the oldest one when all are disabled. Warehouses are locked before SKUs, as in all transactions.
 */
export async function restoreCases(tx: Transaction, cases: readonly CaseStock[], now: Date): Promise<Statement[]> {
  const named = new Set(cases.flatMap((one) => one.lines.map((line) => line.warehouse_id)));
  const locked = await lockEnabledWarehouses(tx, [...named]);
  const known = new Set(locked.map((warehouse) => warehouse.id));
  const first = (locked.find((warehouse) => warehouse.status === 1) ?? locked[0])?.id ?? 0;
  const documents = documentsOf(cases, { doc_type: 'inbound', biz_type: 'restore' }, ({ warehouse_id }) =>
    known.has(warehouse_id) ? warehouse_id : first,
  );
  return writeDocuments(tx, documents, now);
}

/**
 * Goods leave with outbound documents, from the warehouse that the returned goods came from if it has enough, else from another
 * enabled one. A line is not split. Stock that orders have reserved stays.
 */
export async function deductCases(tx: Transaction, cases: readonly CaseStock[], now: Date): Promise<Deducted[]> {
  await lockEnabledWarehouses(tx, []);
  const skuIds = [...new Set(cases.flatMap((one) => one.lines.map((line) => line.sku_id)))];
  const existing = new Set((await lockSkus(tx, skuIds)).map((sku) => sku.id));
  const candidates = candidatesBySku(await selectEnabledStock(tx, skuIds));
  const chosen = new Map<CaseStock, ReadonlyMap<number, Candidate>>();
  const outcomes = cases.map((one): Deducted => {
    if (one.lines.some((line) => !existing.has(line.sku_id))) return 'sku_not_found';
    const preferred = new Map(
      one.lines.map(({ sku_id, warehouse_id }) => {
        const all = candidates.get(sku_id) ?? [];
        const own = all.filter((candidate) => candidate.warehouse_id === warehouse_id);
        return [sku_id, [...own, ...all.filter((candidate) => candidate.warehouse_id !== warehouse_id)]];
      }),
    );
    const choice = pickWarehouses(summedBySku(one.lines), preferred);
    if ('missing' in choice) return 'insufficient_stock';
    for (const { sku_id, qty } of one.lines) choice.picked.get(sku_id)!.free -= qty;
    chosen.set(one, choice.picked);
    return true;
  });
  if (chosen.size === 0) return outcomes;
  const documents = documentsOf(
    [...chosen.keys()],
    { doc_type: 'outbound', biz_type: 'deduct' },
    ({ sku_id }, one) => chosen.get(one)!.get(sku_id)!.warehouse_id,
  );
  for (const statement of await writeDocuments(tx, documents, now)) await statement;
  return outcomes;
}
