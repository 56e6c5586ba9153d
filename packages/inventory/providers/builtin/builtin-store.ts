import type { Statement, Transaction } from '@tradepost/postgres';

const bizType = 'order';

export type WarehouseStock = { sku_id: number; warehouse_id: number; qty: number; reserved_qty: number };

/** Locks the active SKUs of `ids` in id order and returns their ids. The lock of a SKU protects its stock in all warehouses. */
export async function lockSkus(tx: Transaction, ids: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from catalog.sku_stock
    where id = any(${[...ids]}::bigint[]) and status = 'active'
    order by id for no key update`;
  return rows.map((row) => row.id);
}

/** The stock of locked SKUs in enabled warehouses, ordered by warehouse. */
export async function selectEnabledStock(tx: Transaction, skuIds: readonly number[]): Promise<WarehouseStock[]> {
  return tx<WarehouseStock[]>`
    select s.sku_id, s.warehouse_id, s.qty, s.reserved_qty
    from inventory.inventory_stock s join inventory.warehouses w on w.id = s.warehouse_id
    where s.sku_id = any(${[...skuIds]}::bigint[]) and w.status = 1
    order by s.warehouse_id`;
}

export type StockReservation = {
  biz_no: string;
  sku_id: number;
  warehouse_id: number;
  qty: number;
  /** The quantity on hand in the warehouse. A reservation does not change it. */
  on_hand: number;
  expires_at: Date;
};

/** One statement that increases the reserved quantities in warehouses and on SKUs, and writes reservations, movements and states. */
export function insertStockReservations(tx: Transaction, rows: readonly StockReservation[]): Statement {
  const bizNos = [...new Set(rows.map((row) => row.biz_no))];
  return tx`
    with taken as materialized (
      select * from unnest(
        ${rows.map((r) => r.biz_no)}::text[], ${rows.map((r) => r.sku_id)}::bigint[],
        ${rows.map((r) => r.warehouse_id)}::bigint[], ${rows.map((r) => r.qty)}::int[], ${rows.map((r) => r.on_hand)}::int[],
        ${rows.map((r) => r.expires_at.toISOString())}::timestamptz[])
        with ordinality as t (biz_no, sku_id, warehouse_id, qty, on_hand, expires_at, n)
    ), ledger as (
      update inventory.inventory_stock s set reserved_qty = s.reserved_qty + d.qty, updated_at = now()
      from (select sku_id, warehouse_id, sum(qty)::int as qty from taken group by sku_id, warehouse_id) as d
      where s.sku_id = d.sku_id and s.warehouse_id = d.warehouse_id
    ), mirror as (
      update catalog.sku_stock s set reserved_stock = s.reserved_stock + d.qty
      from (select sku_id, sum(qty)::int as qty from taken group by sku_id) as d
      where s.id = d.sku_id
    ), movements as (
      insert into inventory.stock_movements (warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_no)
      select warehouse_id, sku_id, 'reserve', 0, on_hand, on_hand, biz_no from taken order by n
    ), states as (
      insert into inventory.order_inventory_state (order_no, provider, status)
      select n, 'builtin_wms', 'reserved' from unnest(${bizNos}::text[]) as n
    )
    insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, warehouse_id, qty, status, expires_at)
    select ${bizType}, biz_no, sku_id, warehouse_id, qty, 'reserved', expires_at from taken`;
}

/**
 * Locks the SKUs that these orders have reserved. Send it before the statement that settles, which then reads the
 * quantities under the locks.
 */
export function lockReservedSkus(tx: Transaction, bizNos: readonly string[]): Statement {
  return tx`
    select id from catalog.sku_stock
    where id in (select sku_id from inventory.inventory_reservation
                 where biz_type = ${bizType} and biz_no = any(${[...bizNos]}::text[]) and status = 'reserved')
    order by id for no key update`;
}

/**
 * Ends the open reservations of these orders in their warehouses. The SKUs are locked. `confirmed` removes the quantities
 * from stock, `released` makes them sellable again. A SKU carries only the stock of enabled warehouses. Fails when one of
 * the orders has no open reservation, because the stock ledger is then wrong.
 */
export function settleStockReservations(
  tx: Transaction,
  bizNos: readonly string[],
  to: 'confirmed' | 'released',
): Statement {
  const confirms = to === 'confirmed';
  return tx`
    with ended as materialized (
      update inventory.inventory_reservation set status = ${to}, updated_at = now()
      where biz_type = ${bizType} and biz_no = any(${[...bizNos]}::text[]) and status = 'reserved'
      returning biz_no, sku_id, warehouse_id, qty
    ), chained as materialized (
      -- the quantity on hand after each order, when they leave in the order of their numbers
      select e.*, s.qty as on_hand, w.status as enabled,
        ${confirms ? tx`sum(e.qty) over (partition by e.warehouse_id, e.sku_id order by e.biz_no)` : tx`0`}::int as gone
      from ended e
      join inventory.inventory_stock s on s.sku_id = e.sku_id and s.warehouse_id = e.warehouse_id
      join inventory.warehouses w on w.id = e.warehouse_id
    ), ledger as (
      update inventory.inventory_stock s
      set reserved_qty = s.reserved_qty - d.qty, qty = s.qty - ${confirms ? tx`d.qty` : tx`0`}, updated_at = now()
      from (select sku_id, warehouse_id, sum(qty)::int as qty from chained group by sku_id, warehouse_id) as d
      where s.sku_id = d.sku_id and s.warehouse_id = d.warehouse_id
    ), mirror as (
      update catalog.sku_stock s
      set reserved_stock = s.reserved_stock - d.shown,
          ${confirms ? tx`stock = s.stock - d.shown, sold = s.sold + d.qty` : tx`stock = s.stock`}
      from (select sku_id, sum(qty)::int as qty, coalesce(sum(qty) filter (where enabled = 1), 0)::int as shown
            from chained group by sku_id) as d
      where s.id = d.sku_id
    ), movements as (
      insert into inventory.stock_movements (warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_no)
      select warehouse_id, sku_id, ${confirms ? 'order_outbound' : 'release'},
        ${confirms ? tx`-qty, on_hand - gone + qty, on_hand - gone` : tx`0, on_hand, on_hand`}, biz_no
      from chained order by biz_no, sku_id
    ), states as (
      update inventory.order_inventory_state set status = ${to}, last_error = '', updated_at = now()
      where order_no = any(${[...bizNos]}::text[])
    )
    select runtime.must(count(distinct biz_no) = ${bizNos.length}, 'an order to settle has no open reservation') from chained`;
}
