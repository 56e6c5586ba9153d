import type { Locale, Paging } from '@tradepost/core';
import { plannedByValue, type Sql } from '@tradepost/postgres';
import type { Span } from './list-filters.ts';
import type { MovementType } from './movement-schemas.ts';
import { type SkuTexts, skuTexts } from './sku-name.ts';

export type MovementRow = SkuTexts & {
  id: number;
  warehouse_id: number;
  warehouse_name: string | null;
  sku_id: number;
  biz_type: MovementType;
  change_qty: number;
  before_qty: number;
  after_qty: number;
  doc_id: number;
  doc_no: string;
  occurred_at: Date;
};
export type MovementFilter = {
  warehouse_id?: number | undefined;
  sku_id?: number | undefined;
  biz_type?: string | undefined;
  doc_no?: string | undefined;
};

export async function selectMovements(
  sql: Sql,
  { warehouse_id, sku_id, biz_type, doc_no }: MovementFilter,
  { from, before }: Span,
  paging: Paging,
  locale: Locale,
): Promise<{ rows: MovementRow[]; total: number }> {
  const where = sql`true
    ${warehouse_id ? sql`and m.warehouse_id = ${warehouse_id}` : sql``}
    ${sku_id ? sql`and m.sku_id = ${sku_id}` : sql``}
    ${biz_type ? sql`and m.biz_type = ${biz_type}` : sql``}
    ${doc_no ? sql`and m.doc_no = ${doc_no}` : sql``}
    ${from ? sql`and m.occurred_at >= ${from}` : sql``}
    ${before ? sql`and m.occurred_at < ${before}` : sql``}`;
  // The total reads all rows of a span anyway. `+ 0` keeps the planner from scanning the index backwards from the newest row,
  // which would read every row after the span.
  const newest = from || before ? sql`m.id + 0 desc` : sql`m.id desc`;
  const rows = await plannedByValue(sql<(MovementRow & { total: number })[]>`
    with page as (
      select m.* from inventory.stock_movements m where ${where}
      order by ${newest} limit ${paging.size} offset ${paging.offset}
    ), counted as (select count(*)::int as total from inventory.stock_movements m where ${where}),
    named as (
      select m.*, w.name as warehouse_name, ${skuTexts(sql, locale)}
      from page m left join inventory.warehouses w on w.id = m.warehouse_id
        left join catalog.sku_stock k on k.id = m.sku_id left join catalog.product_names p on p.id = k.product_id)
    select named.*, counted.total from counted left join named on true order by named.id desc`);
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}
