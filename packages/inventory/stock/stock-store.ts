import type { Locale, Paging } from '@tradepost/core';
import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import { maxStockRows } from '../limits.ts';
import { type SkuTexts, skuIdsByKeyword, skuTexts } from './sku-name.ts';
import type { KnownSku, StockLevel, StockMoves } from './stock-moves.ts';

/** Locks SKUs in id order. The next statement reads their stock in all warehouses, which cannot change until the commit. */
export async function lockSkus(tx: Transaction, ids: readonly number[]): Promise<KnownSku[]> {
  return tx<KnownSku[]>`
    select s.id, p.title, s.stock from catalog.sku_stock s join catalog.product_names p on p.id = s.product_id
    where s.id = any(${[...ids]}::bigint[]) order by s.id for no key update of s`;
}

/** The stock of locked SKUs in these warehouses. Call it in a later statement than the lock. */
export async function selectLevels(
  tx: Transaction,
  warehouseIds: readonly number[],
  skuIds: readonly number[],
): Promise<StockLevel[]> {
  return tx<StockLevel[]>`
    select warehouse_id, sku_id, qty, reserved_qty from inventory.inventory_stock
    where sku_id = any(${[...skuIds]}::bigint[]) and warehouse_id = any(${[...warehouseIds]}::bigint[])`;
}

/** Writes the quantities, the sums and the movements of locked SKUs. */
export function writeMoves(tx: Transaction, { levels, sums, movements }: StockMoves, now: Date): Statement {
  const moved = [...sums].filter(([, change]) => change !== 0);
  return tx`
    with stock as (
      insert into inventory.inventory_stock (warehouse_id, sku_id, qty, created_at, updated_at)
      select l.warehouse_id, l.sku_id, l.qty, ${now}, ${now}
      from unnest(${levels.map((l) => l.warehouse_id)}::bigint[], ${levels.map((l) => l.sku_id)}::bigint[],
                  ${levels.map((l) => l.qty)}::int[]) as l (warehouse_id, sku_id, qty)
      on conflict (sku_id, warehouse_id) do update set qty = excluded.qty, updated_at = excluded.updated_at
    ), sums as (
      update catalog.sku_stock s set stock = s.stock + m.change
      from unnest(${moved.map(([id]) => id)}::bigint[], ${moved.map(([, change]) => change)}::int[]) as m (sku_id, change)
      where s.id = m.sku_id
    )
    insert into inventory.stock_movements
      (warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_id, doc_no, occurred_at)
    select m.warehouse_id, m.sku_id, m.biz_type, m.change_qty, m.before_qty, m.after_qty, m.doc_id, m.doc_no, ${now}
    from json_to_recordset(${JSON.stringify(movements.map((m, n) => ({ n, ...m })))}::text::json) as m (n int,
      warehouse_id bigint, sku_id bigint, biz_type text, change_qty int, before_qty int, after_qty int, doc_id bigint,
      doc_no text)
    order by m.n`;
}

export type StockRow = SkuTexts &
  StockLevel & {
    id: number;
    warehouse_name: string;
    warehouse_status: 0 | 1;
    safe_qty: number;
    created_at: Date;
    updated_at: Date;
  };
export type StockFilter = {
  keyword?: string | undefined;
  warehouse_id?: number | undefined;
  sku_id?: number | undefined;
  warning_only?: boolean | undefined;
};

const columns = (sql: Sql, locale: Locale) => sql`
  i.id, i.warehouse_id, w.name as warehouse_name, w.status as warehouse_status, i.sku_id, i.qty, i.reserved_qty,
  i.safe_qty, i.created_at, i.updated_at, ${skuTexts(sql, locale)}`;
const names = (sql: Sql) => sql`
  join inventory.warehouses w on w.id = i.warehouse_id
  left join catalog.sku_stock k on k.id = i.sku_id left join catalog.product_names p on p.id = k.product_id`;

export async function selectStocks(
  sql: Sql,
  { keyword, warehouse_id, sku_id, warning_only }: StockFilter,
  paging: Paging,
  locale: Locale,
): Promise<{ rows: StockRow[]; total: number }> {
  const where = sql`true
    ${warehouse_id ? sql`and i.warehouse_id = ${warehouse_id}` : sql``}
    ${sku_id ? sql`and i.sku_id = ${sku_id}` : sql``}
    ${warning_only ? sql`and i.qty < i.safe_qty` : sql``}
    ${keyword ? sql`and i.sku_id in (select id from meant)` : sql``}`;
  const rows = await sql<(StockRow & { total: number })[]>`
    with ${keyword ? sql`meant as materialized (${skuIdsByKeyword(sql, keyword)}),` : sql``}
    page as (
      select i.* from inventory.inventory_stock i where ${where}
      order by i.id desc limit ${paging.size} offset ${paging.offset}
    ), counted as (select count(*)::int as total from inventory.inventory_stock i where ${where}),
    named as (select ${columns(sql, locale)} from page i ${names(sql)})
    select named.*, counted.total from counted left join named on true order by named.id desc`;
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

export async function selectStocksOf(sql: Sql, skuIds: readonly number[], locale: Locale): Promise<StockRow[]> {
  return sql<StockRow[]>`
    select ${columns(sql, locale)} from inventory.inventory_stock i ${names(sql)}
    where i.sku_id = any(${[...skuIds]}::bigint[]) order by i.sku_id, i.warehouse_id limit ${maxStockRows}`;
}

/** Returns whether the row exists. No SKU is locked, because a new safety stock changes no quantity. */
export async function updateSafeQty(sql: Queryable, id: number, safeQty: number): Promise<boolean> {
  const rows = await sql`
    update inventory.inventory_stock set safe_qty = ${safeQty}, updated_at = now() where id = ${id} returning id`;
  return rows.length > 0;
}
