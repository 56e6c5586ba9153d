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
 * Locks warehouses, documents and SKUs in this order, each by id, reads the stock after them and decides. Answers per
 * document null or its refusal, and what is to be written.
 */
async function decideDocuments(tx: Transaction, ids: readonly number[], { mirrors }: WarehouseHooks) {
  const held = await lockWarehousesOfDocuments(tx, ids);
  const warehouses = new Map(held.map((warehouse) => [warehouse.id, warehouse]));
  const documents = new Map((await lockDocuments(tx, ids)).map((document) => [document.id, document]));

  const refusalOf = (document: LockedDocument | undefined): AppError | null => {
    if (!document) return inventoryErrors.document_not_found();
    if (document.status !== 'draft') return draftRefusal(document.status);
    const warehouse = warehouses.get(document.warehouse_id);
    // It was put into another warehouse between the two locks.
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
 * Completes drafts, each as a whole or not at all: its stock moves, with a movement per item. Answers per document true or
 * its refusal; of one that is named twice, or by two callers at once, the first completes it.
 */
export async function completeDocuments(
  { sql, now, hooks }: Pick<Runtime, 'sql' | 'now'> & { hooks: WarehouseHooks },
  ids: readonly number[],
  record?: RecordOutcomes<true>,
): Promise<(true | Error)[]> {
  return writeTransaction(sql, async (tx) => {
    const { outcomes, completed, moves } = await decideDocuments(tx, [...new Set(ids)], hooks);
    const value = ids.map((id, index): true | Error => {
      const again = ids.indexOf(id) < index;
      return outcomes.get(id) ?? (again ? inventoryErrors.document_completed() : true);
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
      // The sums on SKUs were decided by this process's provider.
      mustKeepStock(tx, hooks.mirrors ? 'in warehouses' : 'on SKUs'),
      writeMoves(tx, moves, at),
      ...hooks.completed(tx, done),
      ...(record?.(tx, value) ?? []),
    ];
    return { value, last };
  });
}

/** A document that the shop writes itself, completed at once. */
export type ShopDocument = {
  warehouse_id: number;
  doc_type: DocType;
  biz_type: Exclude<DocumentBizType, 'manual'>;
  /** What it is written for; once per type, number and warehouse. */
  biz_no: string;
  remark: string;
  items: readonly { sku_id: number; qty: number }[];
};

/**
 * Writes documents of the shop itself in the caller's transaction, as completed ones, and moves their stock; also in
 * disabled warehouses, as goods go back to where they came from. Locks as `completeDocuments` does. Answers per document
 * what was written or its refusal (`document_written`: there already), and statements that the caller sends with its own.
 * `mirrors`: whether the sums on the SKUs move along.
 */
export async function insertCompletedDocuments(
  tx: Transaction,
  requests: readonly ShopDocument[],
  { mirrors, now }: { mirrors: boolean; now: Date },
): Promise<{ outcomes: (CompletedDocument | Error)[]; statements: Statement[] }> {
  if (requests.length === 0) return { outcomes: [], statements: [] };
  const warehouseIds = [...new Set(requests.map((request) => request.warehouse_id))];
  const held = new Map(
    (await lockWarehousesForShare(tx, warehouseIds)).map((warehouse) => [warehouse.id, warehouse.status]),
  );
  // The SKUs' locks come before the look at what is written: of two for one thing the second then sees the first.
  const known = await lockSkus(tx, skusOf(requests));
  const levels = await selectLevels(tx, warehouseIds, skusOf(requests));
  const bizNos = requests.map((request) => request.biz_no);
  const written = await selectExistingKeys(tx, bizNos);

  const documents = requests.map((request) => ({ ...request, doc_no: documentNumber(request.doc_type, now) }));
  const outcomes: (CompletedDocument | Error | null)[] = documents.map((document) => {
    if (!held.has(document.warehouse_id)) return inventoryErrors.warehouse_not_found();
    const { biz_no } = document;
    if (biz_no !== '' && written.has(bizKeyOf(document))) return inventoryErrors.document_written({ biz_no });
    written.add(bizKeyOf(document));
    return null;
  });
  const open = documents.filter((_, index) => outcomes[index] === null);
  const plan = planMoves(
    open.map((document) => ({ ...document, doc_id: 0, summed: mirrors && held.get(document.warehouse_id) === 1 })),
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
