import type { CompletedDocument } from './document-hooks.ts';
import type { NewTask } from './task.ts';

/** What completed documents tell an external warehouse: goods came in (restore) or went out (deduct). */
export function documentTasks(documents: readonly CompletedDocument[]): NewTask[] {
  return documents.map(({ doc_no, doc_type, items }) => {
    const of = { biz_type: 'document', biz_no: doc_no };
    const bySku = new Map<number, number>();
    for (const { sku_id, qty } of items) bySku.set(sku_id, (bySku.get(sku_id) ?? 0) + qty);
    const pieces = Array.from(bySku, ([sku_id, qty]) => ({ sku_id, qty }));
    return doc_type === 'inbound'
      ? { ...of, action: 'restore', payload: { ...of, reason: 'inbound_document', items: pieces } }
      : { ...of, action: 'deduct', payload: { ...of, items: pieces } };
  });
}
