import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { maxCountedLive, maxCountsAgeMs } from '../limits.ts';

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
const counts = (sql: Queryable) => sql`
  select count(*)::int as total, coalesce(sum(s.stock), 0)::bigint as stock,
         array[count(*) filter (where price < 5000), count(*) filter (where price >= 5000 and price < 20000),
               count(*) filter (where price >= 20000 and price < 50000),
               count(*) filter (where price >= 50000 and price < 100000),
               count(*) filter (where price >= 100000)]::int[] as prices,
         array[count(*) filter (where s.stock - s.reserved_stock > 10),
               count(*) filter (where s.stock - s.reserved_stock between 1 and 10),
               count(*) filter (where s.stock - s.reserved_stock <= 0)]::int[] as stocks
  from catalog.sku_facts s join catalog.product_facts p on p.id = s.product_id
  where s.status = 'active' and p.status = 1`;

/** The counts of the catalogue: the stored ones of a large catalogue, unless no worker renews them; otherwise it is counted now. */
export async function countSkus(sql: Sql): Promise<SkuCounts> {
  const [stored] = await sql<SkuCounts[]>`
    select total, stock, prices, stocks from analytics.catalogue_counts
    where total > ${maxCountedLive} and counted_at > now() - make_interval(secs => ${maxCountsAgeMs / 1000}::float8)`;
  if (stored) return stored;
  const [row] = await sql<SkuCounts[]>`${counts(sql)}`;
  return row!;
}

/** Whether the stored counts are missing, or older than `afterMs`. */
export async function areCountsDue(sql: Queryable, afterMs: number): Promise<boolean> {
  const [row] = await sql<{ due: boolean }[]>`
    select coalesce(min(counted_at) < now() - make_interval(secs => ${afterMs / 1000}::float8), true) as due
    from analytics.catalogue_counts`;
  return row!.due;
}

/** Counts the catalogue and stores the counts. */
export async function storeCounts(tx: Transaction): Promise<void> {
  await tx`
    insert into analytics.catalogue_counts (total, stock, prices, stocks, counted_at)
    select total, stock, prices, stocks, now() from (${counts(tx)}) as counted
    on conflict (id) do update
    set total = excluded.total, stock = excluded.stock, prices = excluded.prices, stocks = excluded.stocks,
        counted_at = excluded.counted_at`;
}
