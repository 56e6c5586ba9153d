import type { Locale, Paging } from '@tradepost/core';
import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import { maxItems } from '../limits.ts';
import type { Span } from '../stock/list-filters.ts';
import { type SkuTexts, skuTexts } from '../stock/sku-name.ts';
import { type DocumentBizType, type DocumentItem, type DocumentStatus, numberPrefix } from './document.ts';
import type { DocType } from './document-hooks.ts';

export type DocumentRow = {
  id: number;
  doc_no: string;
  warehouse_id: number;
  warehouse_name: string;
  doc_type: DocType;
  status: DocumentStatus;
  remark: string;
  total_qty: number;
  item_count: number;
  biz_type: DocumentBizType;
  biz_no: string;
  created_by: number;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  canceled_at: Date | null;
};
type ItemRow = DocumentItem & SkuTexts & { id: number; doc_id: number };
export type DocumentFilter = {
  warehouse_id?: number | undefined;
  doc_type?: DocType | undefined;
  status?: DocumentStatus | undefined;
  doc_no?: string | undefined;
};

/** The columns of `DocumentRow` from document `d`. */
const columns = (sql: Queryable) => sql`
  d.id, d.doc_no, d.warehouse_id, w.name as warehouse_name, d.doc_type, d.status, d.remark, t.total_qty, t.item_count,
  d.biz_type, d.biz_no, d.created_by, d.created_at, d.updated_at, d.completed_at, d.canceled_at`;
const joins = (sql: Queryable) => sql`
  join inventory.warehouses w on w.id = d.warehouse_id
  cross join lateral (
    select coalesce(sum(i.qty), 0)::bigint as total_qty, count(*)::int as item_count
    from inventory.stock_document_items i where i.doc_id = d.id) as t`;

export async function selectDocuments(
  sql: Sql,
  { warehouse_id, doc_type, status, doc_no }: DocumentFilter,
  { from, before }: Span,
  paging: Paging,
): Promise<{ rows: DocumentRow[]; total: number }> {
  const where = sql`true
    ${warehouse_id ? sql`and d.warehouse_id = ${warehouse_id}` : sql``}
    ${doc_type ? sql`and d.doc_type = ${doc_type}` : sql``}
    ${status ? sql`and d.status = ${status}` : sql``}
    ${doc_no ? sql`and d.doc_no = ${doc_no}` : sql``}
    ${from ? sql`and d.created_at >= ${from}` : sql``}
    ${before ? sql`and d.created_at < ${before}` : sql``}`;
  const rows = await sql<(DocumentRow & { total: number })[]>`
    with page as (
      select d.* from inventory.stock_documents d where ${where}
      order by d.id desc limit ${paging.size} offset ${paging.offset}
    ), counted as (select count(*)::int as total from inventory.stock_documents d where ${where}),
    named as (select ${columns(sql)} from page d ${joins(sql)})
    select named.*, counted.total from counted left join named on true order by named.id desc`;
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

export async function selectDocument(
  sql: Queryable,
  id: number,
  locale: Locale,
): Promise<(DocumentRow & { items: ItemRow[] }) | undefined> {
  const [row] = await sql<(DocumentRow & { items: ItemRow[] })[]>`
    select ${columns(sql)}, (
      select coalesce(jsonb_agg(to_jsonb(i) order by i.id), '[]') from (
        select i.id, i.doc_id, i.sku_id, i.qty, i.unit_cost, i.remark, ${skuTexts(sql, locale)}
        from inventory.stock_document_items i
          left join catalog.sku_stock k on k.id = i.sku_id left join catalog.product_names p on p.id = k.product_id
        where i.doc_id = d.id order by i.id limit ${maxItems}) as i) as items
    from inventory.stock_documents d ${joins(sql)} where d.id = ${id}`;
  return row;
}

/** Whether the warehouse exists, and the first SKU that does not exist. Warehouses and SKUs are never deleted. */
export async function checkReferences(
  tx: Queryable,
  warehouseId: number | null,
  skuIds: readonly number[],
): Promise<{ warehouse: boolean; missing: number | null }> {
  const [row] = await tx<{ warehouse: boolean; missing: number | null }[]>`
    select ${warehouseId}::bigint is null or exists (select from inventory.warehouses where id = ${warehouseId}) as warehouse,
      (select s.id from unnest(${[...skuIds]}::bigint[]) with ordinality as s (id, n)
       where not exists (select from catalog.sku_stock k where k.id = s.id) order by s.n limit 1) as missing`;
  return row!;
}

export type NewDocument = {
  doc_no: string;
  warehouse_id: number;
  doc_type: DocType;
  status: 'draft' | 'completed';
  biz_type: DocumentBizType;
  biz_no: string;
  remark: string;
  created_by: number;
  items: readonly DocumentItem[];
};

/** Writes documents and returns their ids by number. A document whose number is taken is not written. */
export async function insertDocuments(
  tx: Transaction,
  documents: readonly NewDocument[],
  now: Date,
): Promise<Map<string, number>> {
  const rows = await tx<{ id: number; doc_no: string }[]>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(documents.map((d, n) => ({ n, ...d })))}::text::json) as d (n int,
        doc_no text, warehouse_id bigint, doc_type text, status text, biz_type text, biz_no text, remark text,
        created_by bigint, items jsonb)
    ), added as (
      insert into inventory.stock_documents (doc_no, warehouse_id, doc_type, status, biz_type, biz_no, remark, created_by,
        created_at, updated_at, completed_at)
      select doc_no, warehouse_id, doc_type, status, biz_type, biz_no, remark, created_by, ${now}, ${now},
        case when status = 'completed' then ${now}::timestamptz end
      from given order by n on conflict (doc_no) do nothing
      returning id, doc_no
    ), items as (
      insert into inventory.stock_document_items (doc_id, sku_id, qty, unit_cost, remark)
      select added.id, i.sku_id, i.qty, i.unit_cost, i.remark
      from added join given using (doc_no)
        cross join lateral rows from (
          jsonb_to_recordset(given.items) as (sku_id bigint, qty int, unit_cost bigint, remark text)
        ) with ordinality as i (sku_id, qty, unit_cost, remark, n)
      order by added.id, i.n
    )
    select id, doc_no from added`;
  return new Map(rows.map((row) => [row.doc_no, row.id]));
}

export type DocumentChange = {
  warehouse_id?: number | undefined;
  doc_type?: DocType | undefined;
  remark?: string | undefined;
  items?: readonly DocumentItem[] | undefined;
};

/** Updates a locked draft. A change of the type changes the prefix of its number. */
export function updateDocument(tx: Transaction, id: number, change: DocumentChange, now: Date): Statement {
  const { warehouse_id = null, doc_type = null, remark = null, items } = change;
  const prefix = doc_type && numberPrefix(doc_type);
  return tx`
    with items_gone as (
      delete from inventory.stock_document_items where doc_id = ${id} and ${items !== undefined}::boolean
    ), items_new as (
      insert into inventory.stock_document_items (doc_id, sku_id, qty, unit_cost, remark)
      select ${id}, i.sku_id, i.qty, i.unit_cost, i.remark
      from json_to_recordset(${JSON.stringify((items ?? []).map((item, n) => ({ n, ...item })))}::text::json)
        as i (n int, sku_id bigint, qty int, unit_cost bigint, remark text)
      order by i.n
    )
    update inventory.stock_documents
    set warehouse_id = coalesce(${warehouse_id}::bigint, warehouse_id), doc_type = coalesce(${doc_type}::text, doc_type),
        doc_no = coalesce(${prefix}::text || substr(doc_no, 3), doc_no), remark = coalesce(${remark}::text, remark),
        updated_at = ${now}
    where id = ${id}`;
}

export type LockedDocument = Pick<
  DocumentRow,
  'id' | 'doc_no' | 'warehouse_id' | 'doc_type' | 'status' | 'biz_type' | 'biz_no'
>;
/** Locks documents in id order. */
export async function lockDocuments(tx: Transaction, ids: readonly number[]): Promise<LockedDocument[]> {
  return tx<LockedDocument[]>`
    select id, doc_no, warehouse_id, doc_type, status, biz_type, biz_no from inventory.stock_documents
    where id = any(${[...ids]}::bigint[]) order by id for update`;
}

export async function selectItemsOf(
  tx: Transaction,
  docIds: readonly number[],
): Promise<{ doc_id: number; sku_id: number; qty: number }[]> {
  return tx<{ doc_id: number; sku_id: number; qty: number }[]>`
    select doc_id, sku_id, qty from inventory.stock_document_items
    where doc_id = any(${[...docIds]}::bigint[]) order by id`;
}

/** Completes locked drafts. */
export function markCompleted(tx: Transaction, ids: readonly number[], now: Date): Statement {
  return tx`
    update inventory.stock_documents set status = 'completed', completed_at = ${now}, updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and status = 'draft'`;
}
/** Cancels locked drafts. */
export function markCanceled(tx: Transaction, ids: readonly number[], now: Date): Statement {
  return tx`
    update inventory.stock_documents set status = 'canceled', canceled_at = ${now}, updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and status = 'draft'`;
}

type BizKey = { biz_type: DocumentBizType; biz_no: string; doc_type: DocType; warehouse_id: number };
export const bizKeyOf = ({ biz_type, biz_no, doc_type, warehouse_id }: BizKey): string =>
  JSON.stringify([biz_type, biz_no, doc_type, warehouse_id]);

/** The keys of the documents that the shop has already written for these numbers. */
export async function selectExistingKeys(tx: Transaction, bizNos: readonly string[]): Promise<Set<string>> {
  const rows = await tx<BizKey[]>`
    select biz_type, biz_no, doc_type, warehouse_id from inventory.stock_documents
    where biz_no <> '' and biz_no = any(${[...bizNos]}::text[])`;
  return new Set(rows.map(bizKeyOf));
}
