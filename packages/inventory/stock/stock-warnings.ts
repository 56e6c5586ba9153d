import type { DashboardCard, DashboardList } from '@tradepost/module';
import type { Queryable, Statement } from '@tradepost/postgres';
import { isLow, levelColumns, skusWithSafety } from '../low-stock/low-stock.ts';
import { selectIsLarge } from '../low-stock/low-stock-store.ts';
import { type SkuTexts, skuName, skuTexts } from './sku-name.ts';

const permission = 'product:view';

/**
 * The SKUs on sale with little stock to sell. The stock columns have no index, so that a sale touches none: a small catalogue is
 * read as a whole, and of a large one the SKUs that the last searches found low.
 */
function warningsOf(sql: Queryable, isLarge: boolean): Statement {
  const within = isLarge ? sql`s.sku_id in (select sku_id from inventory.low_stock_skus)` : sql`true`;
  return sql`
    select ${levelColumns(sql)} from ${skusWithSafety(sql, within)}
    ${isLarge ? sql`join inventory.low_stock_skus found on found.sku_id = k.id` : sql``}
    join catalog.product_facts p on p.id = k.product_id and p.status = 1
    where k.status = 'active' and ${isLow(sql)}`;
}

export const stockWarningCard: DashboardCard = {
  field: 'stock_warning',
  permission,
  async count(sql) {
    const isLarge = await selectIsLarge(sql);
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from (${warningsOf(sql, isLarge)}) as low`;
    return row!.n;
  },
};

type Warning = SkuTexts & { product_id: number; sku_id: number; stock: number; threshold: number };

export const stockWarningList: DashboardList<'stock_warning_list'> = {
  field: 'stock_warning_list',
  permission,
  async select({ sql }, { locale, limit }) {
    const isLarge = await selectIsLarge(sql);
    const rows = await sql<Warning[]>`
      with lowest as (select * from (${warningsOf(sql, isLarge)}) as low order by stock, sku_id limit ${limit})
      select lowest.*, ${skuTexts(sql, locale)}
      from lowest join catalog.sku_stock k on k.id = lowest.sku_id join catalog.product_facts p on p.id = lowest.product_id
      order by lowest.stock, lowest.sku_id`;
    return rows.map((row) => ({
      ...{ product_id: row.product_id, sku_id: row.sku_id, stock: row.stock, threshold: row.threshold },
      title: skuName(row, row.sku_id, locale),
    }));
  },
};
