import type { DashboardCard, DashboardList } from '@tradepost/module';
import type { Queryable, Statement } from '@tradepost/postgres';
import { isLow, levelColumns, skusWithSafety } from '../low-stock/low-stock.ts';
import { type SkuTexts, skuName, skuTexts } from './sku-name.ts';

const permission = 'product:view';

/** The SKUs on sale with little stock to sell: of all SKUs, or of those that the last searches found low. */
const warnings = (sql: Queryable, of: 'all' | 'found'): Statement => sql`
  select ${levelColumns(sql)}
  from ${skusWithSafety(sql, of === 'all' ? sql`true` : sql`s.sku_id in (select sku_id from inventory.low_stock_skus)`)}
  ${of === 'all' ? sql`` : sql`join inventory.low_stock_skus found on found.sku_id = k.id`}
  join catalog.product_facts p on p.id = k.product_id and p.status = 1
  where k.status = 'active' and ${isLow(sql)}`;

// The stock columns have no index, so that a sale touches none. A small catalogue is read as a whole, a large one is not: PostgreSQL
// runs neither a branch of `case` that is not taken nor a query with a limit of 0.

export const stockWarningCard: DashboardCard = {
  field: 'stock_warning',
  permission,
  async count(sql) {
    const [row] = await sql<{ n: number }[]>`
      select case when is_large then (select count(*) from (${warnings(sql, 'found')}) as found)
                  else (select count(*) from (${warnings(sql, 'all')}) as low) end::int as n
      from inventory.low_stock_scan`;
    return row!.n;
  },
};

type Warning = SkuTexts & { product_id: number; sku_id: number; stock: number; threshold: number };

export const stockWarningList: DashboardList<'stock_warning_list'> = {
  field: 'stock_warning_list',
  permission,
  async select({ sql }, { locale, limit }) {
    const limitIf = (isLarge: boolean) => sql`
      (select case when is_large = ${isLarge} then ${limit}::int else 0 end from inventory.low_stock_scan)`;
    const lowest = (of: 'all' | 'found') => sql`
      (select * from (${warnings(sql, of)}) as low order by stock, sku_id limit ${limitIf(of === 'found')})`;
    const rows = await sql<Warning[]>`
      with lowest as (${lowest('all')} union all ${lowest('found')})
      select lowest.*, ${skuTexts(sql, locale)}
      from lowest join catalog.sku_stock k on k.id = lowest.sku_id join catalog.product_facts p on p.id = lowest.product_id
      order by lowest.stock, lowest.sku_id`;
    return rows.map((row) => ({
      ...{ product_id: row.product_id, sku_id: row.sku_id, stock: row.stock, threshold: row.threshold },
      title: skuName(row, row.sku_id, locale),
    }));
  },
};
