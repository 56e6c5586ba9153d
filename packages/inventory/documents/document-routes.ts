import { isoInZone, type Locale, paged, pagingOf, toMinor, toWire } from '@tradepost/core';
import { defineRoute, idParams, largeBody, nothing, pagedOf, type Route } from '@tradepost/http';
import { actingSql } from '@tradepost/postgres';
import { actingRuntime, type Runtime, timeZone } from '@tradepost/runtime';
import { inventoryErrors } from '../errors.ts';
import { spanOf } from '../stock/list-filters.ts';
import { skuName } from '../stock/sku-name.ts';
import { completeDocuments } from './complete-documents.ts';
import type { DocumentItem } from './document.ts';
import type { WarehouseHooks } from './document-hooks.ts';
import {
  documentCreateBody,
  documentDetail,
  documentQuery,
  documentRow,
  documentUpdateBody,
} from './document-schemas.ts';
import { type DocumentRow, selectDocument, selectDocuments } from './document-store.ts';
import { cancelDocuments, changeDocument, createDocument } from './save-documents.ts';

const tag = 'Warehouses (admin)';
const read = { auth: 'staff', permission: 'wms:view', tag } as const;
const edit = { auth: 'staff', permission: 'wms:edit', tag } as const;
const onlyDrafts = [
  inventoryErrors.document_not_found,
  inventoryErrors.document_completed,
  inventoryErrors.document_canceled,
];

type ItemInput = { sku_id: number; qty: number; unit_cost?: number | undefined; remark?: string | undefined };
const itemsOf = (items: readonly ItemInput[]): DocumentItem[] =>
  items.map(({ sku_id, qty, unit_cost = 0, remark = '' }) => ({ sku_id, qty, unit_cost: toMinor(unit_cost), remark }));

export function documentRoutes(runtime: Runtime, hooks: WarehouseHooks): Route[] {
  const { sql, settings, now } = runtime;
  const complete = runtime.groupCommit<number, true>('complete_documents', (ids, record, actor) =>
    completeDocuments({ sql: actingSql(sql, actor), now, hooks }, ids, record),
  );
  const cancel = runtime.groupCommit<number, true>('cancel_documents', (ids, record, actor) =>
    cancelDocuments(actingRuntime(runtime, actor), ids, record),
  );
  const rowView = (row: DocumentRow) => {
    const { id, doc_no, warehouse_id, warehouse_name, doc_type, status, remark, total_qty, item_count } = row;
    const iso = (at: Date) => isoInZone(at, settings.get(timeZone));
    return {
      ...{ id, doc_no, warehouse_id, warehouse_name, doc_type, status, remark, total_qty, item_count },
      ...{ biz_type: row.biz_type, biz_no: row.biz_no, created_by: row.created_by },
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
      completed_at: row.completed_at && iso(row.completed_at),
      canceled_at: row.canceled_at && iso(row.canceled_at),
    };
  };
  async function detail(documentId: number, locale: Locale) {
    const row = await selectDocument(sql, documentId, locale);
    if (!row) throw inventoryErrors.document_not_found();
    const items = row.items.map((item) => {
      const { id, doc_id, sku_id, qty, remark } = item;
      return {
        ...{ id, doc_id, sku_id, qty, remark },
        sku_name: skuName(item, sku_id, locale),
        sku_code: item.sku_code ?? '',
        unit_cost: toWire(item.unit_cost),
      };
    });
    const doc = rowView(row);
    return { ...doc, doc, items };
  }

  return [
    defineRoute({
      ...read,
      method: 'GET',
      path: '/admin/api/wms/docs',
      summary: 'Inbound and outbound documents, newest first',
      query: documentQuery,
      response: pagedOf(documentRow),
      refuses: [inventoryErrors.invalid_moment],
      statements: 1,
      async handle({ query }) {
        const paging = pagingOf(query);
        const { rows, total } = await selectDocuments(sql, query, spanOf(query, settings.get(timeZone)), paging);
        return paged(rows.map(rowView), total, paging);
      },
    }),
    defineRoute({
      ...edit,
      method: 'POST',
      path: '/admin/api/wms/docs',
      bodyLimit: largeBody,
      summary: 'Create a draft of a document; a draft moves no stock',
      body: documentCreateBody,
      response: documentDetail,
      refuses: [
        inventoryErrors.warehouse_not_found,
        inventoryErrors.no_such_sku,
        inventoryErrors.document_number_taken,
      ],
      repeat: 'recorded',
      statements: 6,
      async handle({ body, caller, claim, locale, actor }) {
        const { warehouse_id, doc_type, remark = '', items } = body;
        const fields = { warehouse_id, doc_type, remark, items: itemsOf(items) };
        const id = await createDocument(actingRuntime(runtime, actor), fields, { staff_id: caller.id, claim });
        return detail(id, locale);
      },
    }),
    defineRoute({
      ...read,
      method: 'GET',
      path: '/admin/api/wms/docs/:id',
      summary: 'A document with its items',
      description: 'The fields of the document are at the top level and also in `doc`.',
      params: idParams,
      response: documentDetail,
      refuses: [inventoryErrors.document_not_found],
      statements: 1,
      handle: ({ params, locale }) => detail(params.id, locale),
    }),
    defineRoute({
      ...edit,
      method: 'PUT',
      path: '/admin/api/wms/docs/:id',
      summary: 'Change a draft: the fields that the body has',
      params: idParams,
      body: documentUpdateBody,
      response: nothing,
      refuses: [...onlyDrafts, inventoryErrors.warehouse_not_found, inventoryErrors.no_such_sku],
      statements: 3,
      repeat: 'recorded',
      async handle({ params, body, write }) {
        const { items, ...change } = body;
        await write((tx) => changeDocument(tx, runtime, params.id, { ...change, items: items && itemsOf(items) }));
        return null;
      },
    }),
    defineRoute({
      ...edit,
      method: 'POST',
      path: '/admin/api/wms/docs/:id/complete',
      summary: 'Complete a draft: its stock arrives or leaves',
      description: 'All items move or none. Stock that orders have reserved cannot leave.',
      params: idParams,
      response: nothing,
      refuses: [
        ...onlyDrafts,
        inventoryErrors.document_being_changed,
        inventoryErrors.warehouse_disabled,
        inventoryErrors.no_such_sku,
        inventoryErrors.insufficient_free_stock,
        inventoryErrors.stock_too_large,
      ],
      repeat: 'recorded',
      statements: 10,
      async handle({ params, claim, actor }) {
        await complete(params.id, claim, actor);
        return null;
      },
    }),
    defineRoute({
      ...edit,
      method: 'POST',
      path: '/admin/api/wms/docs/:id/cancel',
      summary: 'Cancel a draft',
      params: idParams,
      response: nothing,
      refuses: onlyDrafts,
      repeat: 'recorded',
      statements: 2,
      async handle({ params, claim, actor }) {
        await cancel(params.id, claim, actor);
        return null;
      },
    }),
  ];
}
