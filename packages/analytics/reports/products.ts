import { attrsIn, textsIn } from '@tradepost/catalog';
import { type Locale, toWire } from '@tradepost/core';
import type { z } from 'zod';
import { pie, ratioOf } from '../charts.ts';
import { sumOf } from '../days/read-days.ts';
import { maxCategories, maxRankedSkus } from '../limits.ts';
import { countSkus } from './catalogue-store.ts';
import { noCategoryName, otherCategoriesName, priceNames, stockNames } from './names.ts';
import { isStored, periodOf, type ReportDeps, type ReportRequest } from './report-deps.ts';
import type { productsView } from './schemas.ts';
import { type BestSku, type CategorySales, selectBestSkus, selectCategorySales } from './sku-store.ts';

/** A name such as "Enamel mug (Cream, L)". */
function nameOf({ sku_id, title, attrs, translations }: BestSku, locale: Locale): string {
  if (title === null) return `SKU ${sku_id}`;
  const values = attrsIn(attrs ?? [], translations ?? {}, locale).map(({ value }) => value);
  const text = textsIn({ title, subtitle: '', translations: translations ?? {} }, locale).title;
  return values.length > 0 ? `${text} (${values.join(', ')})` : text;
}

const categoryName = ({ name, translations }: CategorySales, locale: Locale): string =>
  name === null ? noCategoryName[locale] : translations?.[locale]?.name || name;

/** The categories with the highest revenue, and the sum of the others. */
function categoryPie(rows: readonly CategorySales[], locale: Locale) {
  const shown = rows
    .slice(0, maxCategories)
    .map((row) => ({ name: categoryName(row, locale), value: toWire(row.revenue) }));
  const others = rows.slice(maxCategories);
  if (others.length === 0) return shown;
  return [...shown, { name: otherCategoriesName[locale], value: toWire(sumOf(others, ({ revenue }) => revenue)) }];
}

const noSkus = { total: 0, stock: 0, prices: [], stocks: [] };

/** What was sold in the period, and the catalogue as it is now. */
export async function productsReport(
  deps: ReportDeps,
  { days, locale, fileUrl }: ReportRequest,
): Promise<z.input<typeof productsView>> {
  const { runtime, has } = deps;
  const { sql } = runtime;
  const period = periodOf(deps, days);
  const stored = await isStored(deps, period);
  const [best, categories, skus] = await Promise.all([
    has.orders ? selectBestSkus(sql, period, { isStored: stored, locale, limit: maxRankedSkus }) : [],
    has.orders ? selectCategorySales(sql, period, stored) : [],
    has.products ? countSkus(sql) : noSkus,
  ]);
  const soldSkus = sumOf(categories, (row) => row.skus);
  return {
    summary: {
      total_sku: skus.total,
      active_sku_rate: skus.total === 0 ? 0 : Math.min(1, Math.round((soldSkus / skus.total) * 10_000) / 10_000),
      avg_inventory_turnover: ratioOf(
        sumOf(categories, (row) => row.qty),
        skus.stock,
      ),
    },
    sku_ranking: best.map((row, n) => ({
      rank: n + 1,
      title: nameOf(row, locale),
      cover: fileUrl(row.cover ?? ''),
      sold_qty: row.qty,
      revenue: toWire(row.revenue),
    })),
    category_sales: categoryPie(categories, locale),
    price_range: pie(priceNames, skus.prices, locale),
    inventory_status: pie(stockNames, skus.stocks, locale),
  };
}
