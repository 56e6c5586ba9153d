import type { Queryable, Statement } from '@tradepost/postgres';
import { lowStock } from '../limits.ts';

/**
 * SKUs `k` with their safety stock in enabled warehouses, null when they have none. `within` is a condition on `s.sku_id`, for
 * queries of some SKUs only.
 */
export const skusWithSafety = (sql: Queryable, within: Statement = sql`true`) => sql`
  catalog.sku_stock k
  left join (
    select s.sku_id, least(sum(s.safe_qty), 2147483647)::int as safe_qty
    from inventory.inventory_stock s join inventory.warehouses w on w.id = s.warehouse_id and w.status = 1
    where s.safe_qty > 0 and ${within} group by s.sku_id
  ) as safety on safety.sku_id = k.id`;

/** With safety stock the limit is its sum, otherwise the limit of all products. */
export const isLow = (sql: Queryable) => sql`
  k.stock - k.reserved_stock < coalesce(safety.safe_qty, ${lowStock + 1}::int)`;

/** The stock to sell and the limit, as staff and receivers of events see them. */
export const levelColumns = (sql: Queryable) => sql`
  k.product_id, k.id as sku_id, k.stock - k.reserved_stock as stock, coalesce(safety.safe_qty, ${lowStock}::int) as threshold`;
