import type { AppError } from '@tradepost/core';
import { type Statement, type Transaction, writeTransaction } from '@tradepost/postgres';
import type { RecordOutcomes, Runtime } from '@tradepost/runtime';
import { inventoryErrors } from '../errors.ts';
import { mustKeepStock } from '../reservations/provider-fence.ts';
import { planMoves, skusOf } from '../stock/stock-moves.ts';
import { lockSkus, selectLevels, writeMoves } from '../stock/stock-store.ts';
import { lockWarehousesForShare, lockWarehousesOfDocuments } from '../warehouses/warehouse-store.ts';
import { type DocumentBizType, documentNumber, draftRefusal } from './document.ts';
import type { CompletedDocument, DocType, WarehouseHooks } from './document-hooks.ts';
import {
  bizKeyOf,
  insertDocuments,
  type LockedDocument,
  lockDocuments,
  markCompleted,
  selectExistingKeys,
  selectItemsOf,
} from './document-store.ts';

type Draft = LockedDocument & { items: { sku_id: number; qty: number }[] };

/**
 * Locks warehouses, documents and SKUs in this order, each kind in id order. Then it reads the stock and decides. Returns null
 * or the refusal of each document, and the rows to write.
 */
async function decideDocuments(tx: Transaction, ids: readonly number[], { mirrors }: WarehouseHooks) {
  const locked = await lockWarehousesOfDocuments(tx, ids);
  const warehouses = new Map(locked.map((warehouse) => [warehouse.id, warehouse]));
  const documents = new Map((await lockDocuments(tx, ids)).map((document) => [document.id, document]));

  const refusalOf = (document: LockedDocument | undefined): AppError | null => {
    if (!document) return inventoryErrors.document_not_found();
    if (document.status !== 'draft') return draftRefusal(document.status);
    const warehouse = warehouses.get(document.warehouse_id);
    // The document was changed to another warehouse between the two locks.
    if (!warehouse) return inventoryErrors.document_being_changed();
    return warehouse.status === 1 ? null : inventoryErrors.warehouse_disabled({ name: warehouse.name });
  };
  const outcomes = new Map(ids.map((id) => [id, refusalOf(documents.get(id))]));
  const drafts = new Map<number, Draft>();
  for (const id of ids) if (outcomes.get(id) === null) drafts.set(id, { ...documents.get(id)!, items: [] });
  if (drafts.size === 0) return { outcomes, completed: [], moves: null };

  for (const { doc_id, ...item } of await selectItemsOf(tx, [...drafts.keys()])) drafts.get(doc_id)!.items.push(item);
  const moving = [...drafts.values()].map((draft) => ({ ...draft, doc_id: draft.id, summed: mirrors }));
  const known = await lockSkus(tx, skusOf(moving));
  const plan = planMoves(moving, known, await selectLevels(tx, [...warehouses.keys()], skusOf(moving)));
  for (const [index, { id }] of moving.entries()) outcomes.set(id, plan.outcomes[index]!);
  const completed = [...drafts.values()].filter(({ id }) => outcomes.get(id) === null);
  return { outcomes, completed, moves: plan.moves };
}

/**
 * Completes drafts: the stock of all items moves, or the draft is refused. Each item gets a movement. Returns true or the
 * refusal of each document. When a document is in the batch twice, the first call completes it.
 */
export async function completeDocuments(
  { sql, now, hooks }: Pick<Runtime, 'sql' | 'now'> & { hooks: WarehouseHooks },
  ids: readonly number[],
  record?: RecordOutcomes<true>,
): Promise<(true | Error)[]> {
  return writeTransaction(sql, async (tx) => {
    const { outcomes, completed, moves } = await decideDocuments(tx, [...new Set(ids)], hooks);
    const value = ids.map((id, index): true | Error => {
      const isRepeated = ids.indexOf(id) < index;
      return outcomes.get(id) ?? (isRepeated ? inventoryErrors.document_completed() : true);
    });
    if (!moves || completed.length === 0) return { value, last: [] };
    const at = now();
    const done = completed.map(({ status: _draft, ...document }): CompletedDocument => document);
    const last = [
      markCompleted(
        tx,
        done.map((document) => document.id),
        at,
      ),
      // The sums on SKUs were calculated for the provider of this process.
      mustKeepStock(tx, hooks.mirrors ? 'in warehouses' : 'on SKUs'),
      writeMoves(tx, moves, at),
      ...hooks.completed(tx, done),
      ...(record?.(tx, value) ?? []),
    ];
    return { value, last };
  });
}

/** A document that the shop writes and completes at once. */
export type ShopDocument = {
  warehouse_id: number;
  doc_type: DocType;
  biz_type: Exclude<DocumentBizType, 'manual'>;
  /**
   * The number of the order or other object that caused the document. Only one document exists per type, number and
   * warehouse.
   */
  biz_no: string;
  remark: string;
  items: readonly { sku_id: number; qty: number }[];
};

/**
 * Writes completed documents of the shop itself on the caller's transaction, and moves their stock. Disabled warehouses are
 * allowed, because returned goods go to the warehouse that they came from. The locks are those of `completeDocuments`. Returns
 * the written document or the refusal of each request (`document_written` for one that exists), and statements that the caller
 * sends with its own. `mirrors`: whether the sums on SKUs change too.
 */
export async function insertCompletedDocuments(
  tx: Transaction,
  requests: readonly ShopDocument[],
  { mirrors, now }: { mirrors: boolean; now: Date },
): Promise<{ outcomes: (CompletedDocument | Error)[]; statements: Statement[] }> {
  if (requests.length === 0) return { outcomes: [], statements: [] };
  const warehouseIds = [...new Set(requests.map((request) => request.warehouse_id))];
  const statusOf = new Map(
    (await lockWarehousesForShare(tx, warehouseIds)).map((warehouse) => [warehouse.id, warehouse.status]),
  );
  // The SKUs are locked before existing documents are read. When two transactions write the same number, the second one
  // waits and then finds the document of the first.
  const known = await lockSkus(tx, skusOf(requests));
  const levels = await selectLevels(tx, warehouseIds, skusOf(requests));
  const bizNos = requests.map((request) => request.biz_no);
  const existing = await selectExistingKeys(tx, bizNos);

  const documents = requests.map((request) => ({ ...request, doc_no: documentNumber(request.doc_type, now) }));
  const outcomes: (CompletedDocument | Error | null)[] = documents.map((document) => {
    if (!statusOf.has(document.warehouse_id)) return inventoryErrors.warehouse_not_found();
    const { biz_no } = document;
    if (biz_no !== '' && existing.has(bizKeyOf(document))) return inventoryErrors.document_written({ biz_no });
    existing.add(bizKeyOf(document));
    return null;
  });
  const open = documents.filter((_, index) => outcomes[index] === null);
  const plan = planMoves(
    open.map((document) => ({ ...document, doc_id: 0, summed: mirrors && statusOf.get(document.warehouse_id) === 1 })),
    known,
    levels,
  );
  const accepted = open.filter((_, index) => plan.outcomes[index] === null);
  const rows = accepted.map((document) => ({
    ...document,
    ...({ status: 'completed', created_by: 0 } as const),
    items: document.items.map(({ sku_id, qty }) => ({ sku_id, qty, unit_cost: 0, remark: '' })),
  }));
  const ids = rows.length > 0 ? await insertDocuments(tx, rows, now) : new Map<string, number>();
  if (ids.size < rows.length) throw inventoryErrors.document_number_taken();

  const refusals = new Map(open.map((document, index) => [document.doc_no, plan.outcomes[index] ?? null]));
  for (const movement of plan.moves.movements) movement.doc_id = ids.get(movement.doc_no)!;
  return {
    outcomes: documents.map(({ remark: _, ...document }, index) => {
      const refusal = outcomes[index] ?? refusals.get(document.doc_no);
      return refusal ?? { ...document, id: ids.get(document.doc_no)! };
    }),
    statements: rows.length > 0 ? [writeMoves(tx, plan.moves, now)] : [],
  };
}
