import type { Attribute, textsIn } from '@tradepost/catalog';
import type { Locale } from '@tradepost/core';
import type { Queryable, Sql, Statement } from '@tradepost/postgres';
import { orderFacts } from '../days/order-facts.ts';
import type { Day } from '../days/shop-days.ts';
import { firstDayOf, type Period } from '../days/window-store.ts';

type Translations = Parameters<typeof textsIn>[0]['translations'];

/**
 * The common table expressions for the sales of SKUs in a period: `live` has those of the orders that are counted in the tables,
 * `past` the stored sums of the past days. With `isStored` false all days are counted in the tables.
 */
function skuSales(sql: Queryable, { zone, days, today }: Period, isStored: boolean): Statement {
  const from: Day = isStored ? today : firstDayOf({ days, today });
  return sql`
    ${orderFacts(sql, { zone, from, to: today })}, live as materialized (
      select i.sku_id, max(i.product_id) as product_id, sum(i.qty)::bigint as qty, sum(i.payable_amount)::bigint as revenue
      from facts join orders.line_facts i on i.order_id = facts.id
      where is_sold and i.order_id >= (select first_id from span) and i.order_id < (select end_id from span)
      group by i.sku_id
    ), past as not materialized (
      select sku_id, product_id, qty, revenue from analytics.window_skus where days = ${isStored ? days : 0}
    )`;
}

/** The texts of product `p` in a language, without its page. */
const ownTexts = (sql: Queryable, locale: Locale) =>
  sql`jsonb_build_object(${locale}::text, p.translations -> ${locale}::text #- '{detail}')`;

export type BestProduct = {
  id: number;
  title: string | null;
  translations: Translations | null;
  cover: string | null;
  qty: number;
};

/** The products that sold most pieces in the period, over all their SKUs. */
export const selectBestProducts = (
  sql: Sql,
  period: Period,
  { isStored, locale, limit }: { isStored: boolean; locale: Locale; limit: number },
): Promise<BestProduct[]> =>
  sql<BestProduct[]>`
    with ${skuSales(sql, period, isStored)}, today as materialized (
      select product_id, sum(qty)::bigint as qty from live where product_id > 0 group by product_id
    ), stored as not materialized (
      select product_id, qty from analytics.window_products where days = ${isStored ? period.days : 0}
    ), candidates as (
      select t.product_id, t.qty + coalesce(s.qty, 0) as qty from today t left join stored s using (product_id)
      union all
      -- As many more as were sold today: those occur twice, the second time with less.
      (select product_id, qty from stored order by qty desc, product_id limit ${limit} + (select count(*) from today))
    ), best as (
      select product_id, max(qty) as qty from candidates group by product_id order by qty desc, product_id limit ${limit}
    )
    select best.product_id as id, best.qty, p.title, p.cover, ${ownTexts(sql, locale)} as translations
    from best left join catalog.product_facts p on p.id = best.product_id
    order by best.qty desc, best.product_id`;

export type BestSku = {
  sku_id: number;
  product_id: number;
  title: string | null;
  attrs: Attribute[] | null;
  translations: Translations | null;
  cover: string | null;
  qty: number;
  revenue: number;
};

/** The SKUs that sold most pieces in the period: those of the stored sums that may be among them, and all that sold since. */
export const selectBestSkus = (
  sql: Sql,
  period: Period,
  { isStored, locale, limit }: { isStored: boolean; locale: Locale; limit: number },
): Promise<BestSku[]> =>
  sql<BestSku[]>`
    with ${skuSales(sql, period, isStored)}, candidates as (
      select l.sku_id, l.product_id, l.qty + coalesce(p.qty, 0) as qty, l.revenue + coalesce(p.revenue, 0) as revenue
      from live l left join past p using (sku_id) where l.sku_id > 0
      union all
      -- As many more as were sold today: those occur twice, the second time with less.
      (select sku_id, product_id, qty, revenue from past where sku_id > 0
       order by qty desc, revenue desc, sku_id limit ${limit} + (select count(*) from live))
    ), best as (
      select sku_id, max(product_id) as product_id, max(qty) as qty, max(revenue) as revenue
      from candidates group by sku_id order by qty desc, revenue desc, sku_id limit ${limit}
    )
    select best.sku_id, best.product_id, best.qty, best.revenue, p.title, p.cover, ${ownTexts(sql, locale)} as translations, s.attrs
    from best left join catalog.product_facts p on p.id = best.product_id left join catalog.sku_facts s on s.id = best.sku_id
    order by best.qty desc, best.revenue desc, best.sku_id`;

export type CategorySales = {
  category_id: number;
  name: string | null;
  translations: Readonly<Partial<Record<Locale, { name?: string }>>> | null;
  qty: number;
  revenue: number;
  skus: number;
};

/**
 * Pieces, revenue and number of sold SKUs by category, highest revenue first: the stored sums and what was sold since. The stored
 * ones have the category that the product had when they were made.
 */
export const selectCategorySales = (sql: Sql, period: Period, isStored: boolean): Promise<CategorySales[]> =>
  sql<CategorySales[]>`
    with ${skuSales(sql, period, isStored)}, parts as (
      select coalesce(p.category_id, 0) as category_id, l.qty, l.revenue, (past.sku_id is null and l.sku_id > 0)::int as skus
      from live l left join past using (sku_id) left join catalog.product_facts p on p.id = l.product_id
      union all
      select category_id, qty, revenue, skus from analytics.window_categories where days = ${isStored ? period.days : 0}
    ), by_category as (
      select category_id, sum(qty)::bigint as qty, sum(revenue)::bigint as revenue, sum(skus)::int as skus
      from parts group by category_id
    )
    select category_id, c.name, c.translations, qty, revenue, skus
    from by_category left join catalog.category_names c on c.id = category_id
    order by revenue desc, category_id`;
