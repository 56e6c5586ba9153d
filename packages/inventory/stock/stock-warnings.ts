import type { DashboardCard, DashboardList } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';
import { isLow, levelColumns, skusWithSafety } from '../low-stock/low-stock.ts';
import { type SkuTexts, skuName, skuTexts } from './sku-name.ts';

const permission = 'product:view';

/** The SKUs on sale with little stock to sell. The stock columns have no index, so that a sale touches none; both queries scan the SKUs once. */
const warnings = (sql: Queryable) => sql`
  ${skusWithSafety(sql)}
  join catalog.product_facts p on p.id = k.product_id and p.status = 1
  where k.status = 'active' and ${isLow(sql)}`;

export const stockWarningCard: DashboardCard = {
  field: 'stock_warning',
  permission,
  async count(sql) {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from ${warnings(sql)}`;
    return row!.n;
  },
};

type Warning = SkuTexts & { product_id: number; sku_id: number; stock: number; threshold: number };

export const stockWarningList: DashboardList<'stock_warning_list'> = {
  field: 'stock_warning_list',
  permission,
  async select({ sql }, { locale, limit }) {
    const rows = await sql<Warning[]>`
      select ${levelColumns(sql)}, ${skuTexts(sql, locale)}
      from ${warnings(sql)}
      order by k.stock - k.reserved_stock, k.id limit ${limit}`;
    return rows.map((row) => ({
      ...{ product_id: row.product_id, sku_id: row.sku_id, stock: row.stock, threshold: row.threshold },
      title: skuName(row, row.sku_id, locale),
    }));
  },
};
