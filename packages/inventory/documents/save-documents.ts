import { type Transaction, writeTransaction } from '@tradepost/postgres';
import type { Claim, RecordOutcomes, Runtime } from '@tradepost/runtime';
import { inventoryErrors } from '../errors.ts';
import { type DocumentItem, documentNumber, draftRefusal } from './document.ts';
import type { DocType } from './document-hooks.ts';
import {
  checkReferences,
  type DocumentChange,
  insertDocuments,
  lockDocuments,
  markCanceled,
  updateDocument,
} from './document-store.ts';

type Deps = Pick<Runtime, 'sql' | 'now' | 'idempotency'>;
export type DraftFields = { warehouse_id: number; doc_type: DocType; remark: string; items: readonly DocumentItem[] };

const createUseCase = 'create_document';
const attempts = 4;

async function refuseUnknownReferences(
  tx: Parameters<typeof checkReferences>[0],
  change: DocumentChange,
): Promise<void> {
  const skuIds = [...new Set(change.items?.map((item) => item.sku_id))];
  const found = await checkReferences(tx, change.warehouse_id ?? null, skuIds);
  if (!found.warehouse) throw inventoryErrors.warehouse_not_found();
  if (found.missing !== null) throw inventoryErrors.no_such_sku({ sku_id: found.missing });
}

/**
 * Creates a draft and returns its id. When the process died after the commit of the first request, the repeat gets the
 * id of the first draft.
 */
export async function createDocument(
  { sql, now, idempotency }: Deps,
  fields: DraftFields,
  by: { staff_id: number; claim: Claim | null },
  newNumber: typeof documentNumber = documentNumber,
): Promise<number> {
  const { claim } = by;
  const made = claim?.outcomes[createUseCase];
  if (typeof made === 'number') return made;
  return writeTransaction(sql, async (tx) => {
    await refuseUnknownReferences(tx, fields);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const doc_no = newNumber(fields.doc_type, now());
      const manual = { status: 'draft', biz_type: 'manual', biz_no: '' } as const;
      const draft = { ...fields, ...manual, doc_no, created_by: by.staff_id };
      const id = (await insertDocuments(tx, [draft], now())).get(doc_no);
      if (id === undefined) continue;
      return { value: id, last: claim ? idempotency.record(tx, createUseCase, [{ ...claim, outcome: id }]) : [] };
    }
    throw inventoryErrors.document_number_taken();
  });
}

/** Writes the fields of `change` into a draft. */
export async function changeDocument(
  tx: Transaction,
  { now }: Pick<Deps, 'now'>,
  id: number,
  change: DocumentChange,
): Promise<void> {
  const [draft] = await lockDocuments(tx, [id]);
  if (!draft) throw inventoryErrors.document_not_found();
  const refusal = draftRefusal(draft.status);
  if (refusal) throw refusal;
  await refuseUnknownReferences(tx, change);
  await updateDocument(tx, id, change, now());
}

/** Cancels drafts. Returns true or the refusal of each document. A document that is in the batch twice is canceled once. */
export async function cancelDocuments(
  { sql, now }: Pick<Deps, 'sql' | 'now'>,
  ids: readonly number[],
  record: RecordOutcomes<true> | undefined,
): Promise<(true | Error)[]> {
  return writeTransaction(sql, async (tx) => {
    const found = new Map((await lockDocuments(tx, [...new Set(ids)])).map((document) => [document.id, document]));
    const canceled: number[] = [];
    const value = ids.map((id): true | Error => {
      const document = found.get(id);
      if (!document) return inventoryErrors.document_not_found();
      const refusal = draftRefusal(document.status);
      if (refusal) return refusal;
      found.set(id, { ...document, status: 'canceled' });
      canceled.push(id);
      return true;
    });
    const last = canceled.length > 0 ? [markCanceled(tx, canceled, now()), ...(record?.(tx, value) ?? [])] : [];
    return { value, last };
  });
}
