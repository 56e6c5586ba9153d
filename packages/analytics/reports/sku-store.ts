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
    with ${skuSales(sql, period, isStored)}, best as (
      select product_id, sum(qty)::bigint as qty
      from (select product_id, qty from live union all select product_id, qty from past) as both_parts
      group by product_id order by qty desc, product_id limit ${limit}
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
      from live l left join past p using (sku_id)
      union all
      (select sku_id, product_id, qty, revenue from past
       where not exists (select from live where live.sku_id = past.sku_id)
       order by qty desc, revenue desc, sku_id limit ${limit})
    ), best as (
      select * from candidates order by qty desc, revenue desc, sku_id limit ${limit}
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

/** Pieces, revenue and number of sold SKUs by the category that the products have now, highest revenue first. */
export const selectCategorySales = (sql: Sql, period: Period, isStored: boolean): Promise<CategorySales[]> =>
  sql<CategorySales[]>`
    with ${skuSales(sql, period, isStored)}, sold as (
      select sku_id, max(product_id) as product_id, sum(qty) as qty, sum(revenue) as revenue
      from (select * from live union all select * from past) as both_parts group by sku_id
    ), by_category as (
      select coalesce(p.category_id, 0) as category_id, sum(qty)::bigint as qty, sum(revenue)::bigint as revenue,
             count(*)::int as skus
      from sold left join catalog.product_facts p on p.id = sold.product_id
      group by 1
    )
    select category_id, c.name, c.translations, qty, revenue, skus
    from by_category left join catalog.category_names c on c.id = category_id
    order by revenue desc, category_id`;

export type SkuCounts = {
  total: number;
  /** On hand, over all SKUs. */
  stock: number;
  /** By price in minor units: below 5,000, 20,000, 50,000, 100,000, and above. */
  prices: number[];
  /** By stock to sell: above 10, 1 to 10, none. */
  stocks: number[];
};

/** The active SKUs of the products that are on sale. */
export async function countSkus(sql: Sql): Promise<SkuCounts> {
  const [row] = await sql<SkuCounts[]>`
    with skus as (
      select s.price, s.stock, s.stock - s.reserved_stock as free
      from catalog.sku_facts s join catalog.product_facts p on p.id = s.product_id
      where s.status = 'active' and p.status = 1
    )
    select count(*)::int as total, coalesce(sum(stock), 0)::bigint as stock,
           array[count(*) filter (where price < 5000), count(*) filter (where price >= 5000 and price < 20000),
                 count(*) filter (where price >= 20000 and price < 50000),
                 count(*) filter (where price >= 50000 and price < 100000),
                 count(*) filter (where price >= 100000)]::int[] as prices,
           array[count(*) filter (where free > 10), count(*) filter (where free between 1 and 10),
                 count(*) filter (where free <= 0)]::int[] as stocks
    from skus`;
  return row!;
}
