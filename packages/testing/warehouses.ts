import type { Sql } from '@tradepost/postgres';

/**
 * Inserts stock by SQL as completed inbound documents do: stock rows, movements, and the sums on the SKUs. Returns the ids of
 * the warehouses by code.
 */
export async function stockWarehouses(
  sql: Sql,
  /** Warehouse code -> SKU -> quantity. */
  stocks: Readonly<Record<string, Readonly<Record<number, number>>>>,
): Promise<Record<string, number>> {
  const ids: Record<string, number> = {};
  for (const [code, stock] of Object.entries(stocks)) {
    const [row] = await sql<{ id: number }[]>`
      insert into inventory.warehouses (code, name) values (${code}, ${`Warehouse ${code}`})
      on conflict (code) do update set updated_at = now() returning id`;
    ids[code] = row!.id;
    for (const [sku, qty] of Object.entries(stock))
      await sql`
        with inserted as (
          insert into inventory.inventory_stock (warehouse_id, sku_id, qty) values (${row!.id}, ${Number(sku)}, ${qty})
        )
        insert into inventory.stock_movements (warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_no)
        values (${row!.id}, ${Number(sku)}, 'inbound', ${qty}, 0, ${qty}, 'WI-TEST')`;
  }
  await sql`
    update catalog.product_skus s set stock = i.qty
    from (select sku_id, sum(qty)::int as qty from inventory.inventory_stock group by sku_id) as i where s.id = i.sku_id`;
  return ids;
}
