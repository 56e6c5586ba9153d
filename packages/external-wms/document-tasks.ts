import { type CompletedDocument, summedItems } from '@tradepost/inventory';
import type { NewTask } from './tasks/task.ts';

/** The tasks of completed documents: `restore` for an inbound document, `deduct` for an outbound one. */
export function documentTasks(documents: readonly CompletedDocument[]): NewTask[] {
  return documents.map(({ doc_no, doc_type, items }) => {
    const of = { biz_type: 'document', biz_no: doc_no };
    const payload = { ...of, items: summedItems(items) };
    return doc_type === 'inbound'
      ? { ...of, action: 'restore', payload: { ...payload, reason: 'inbound_document' } }
      : { ...of, action: 'deduct', payload };
  });
}
