import type { Audit, Queryable } from '@tradepost/runtime';

const piecesOf = (sql: Queryable, status: 'reserved' | 'confirmed') => sql`
  select sku_id, sum(qty)::bigint as qty from inventory.inventory_reservation where status = ${status} group by sku_id`;

export const inventoryAudits: readonly Audit[] = [
  {
    name: 'inventory.stock_bounds',
    about: 'stock is never below zero, and what is reserved is within it',
    query: (sql) => sql`
      select id as sku_id, stock, reserved_stock from catalog.product_skus
      where stock < 0 or reserved_stock < 0 or reserved_stock > stock`,
  },
  {
    name: 'inventory.reserved_stock',
    about: 'the reserved stock of a SKU is the sum of its open reservations',
    query: (sql) => sql`
      select s.id as sku_id, s.reserved_stock, coalesce(r.qty, 0) as open_reservations
      from catalog.product_skus s left join (${piecesOf(sql, 'reserved')}) as r on r.sku_id = s.id
      where s.reserved_stock <> coalesce(r.qty, 0)`,
  },
  {
    name: 'inventory.sold',
    about: 'the pieces sold of a SKU are the sum of its confirmed reservations',
    query: (sql) => sql`
      select s.id as sku_id, s.sold, coalesce(r.qty, 0) as confirmed_reservations
      from catalog.product_skus s left join (${piecesOf(sql, 'confirmed')}) as r on r.sku_id = s.id
      where s.sold <> coalesce(r.qty, 0)`,
  },
];
