import type { Statement, Transaction } from '@tradepost/postgres';
import { type ReservationRow, stateAndReservations } from '../../reservations/reservation-store.ts';

const bizType = 'order';

export type SkuStock = { id: number; sellable: number };

/** Locks the active SKUs of `ids` in id order and returns their sellable quantities. */
export async function lockSkuStock(tx: Transaction, ids: readonly number[]): Promise<SkuStock[]> {
  return tx<SkuStock[]>`
    select id, stock - reserved_stock as sellable from catalog.sku_stock
    where id = any(${[...ids]}::bigint[]) and status = 'active'
    order by id for no key update`;
}

/** One statement that increases reserved_stock of locked SKUs and writes reservations and states. */
export function insertReservations(
  tx: Transaction,
  rows: readonly ReservationRow[],
  demand: ReadonlyMap<number, number>,
): Statement {
  return tx`
    with held as (
      update catalog.sku_stock s set reserved_stock = s.reserved_stock + d.qty
      from unnest(${[...demand.keys()]}::bigint[], ${[...demand.values()]}::int[]) as d (sku_id, qty)
      where s.id = d.sku_id
    ), ${stateAndReservations(tx, rows, { provider: 'local', status: 'reserved' })}`;
}

/**
 * Ends the open reservations of these orders and settles their stock in one statement. `confirmed` removes the quantities
 * from stock, `released` makes them sellable again. Quantities are summed per SKU, and SKUs are locked in id order. Fails when
 * one of the orders has no open reservation, because the stock ledger is then wrong.
 */
export function settleReservations(
  tx: Transaction,
  bizNos: readonly string[],
  to: 'confirmed' | 'released',
): Statement {
  return tx`
    with ended as (
      update inventory.inventory_reservation set status = ${to}, updated_at = now()
      where biz_type = ${bizType} and biz_no = any(${[...bizNos]}::text[]) and status = 'reserved'
      returning biz_no, sku_id, qty
    ), demand as (
      select sku_id, sum(qty)::int as qty from ended group by sku_id
    ), locked as materialized (
      select s.id, d.qty from catalog.sku_stock s join demand d on d.sku_id = s.id
      order by s.id for no key update of s
    ), moved as (
      update catalog.sku_stock s
      set reserved_stock = s.reserved_stock - locked.qty,
          stock = s.stock - case when ${to} = 'confirmed' then locked.qty else 0 end,
          sold = s.sold + case when ${to} = 'confirmed' then locked.qty else 0 end
      from locked where s.id = locked.id
    ), states as (
      update inventory.order_inventory_state set status = ${to}, last_error = '', updated_at = now()
      where order_no = any(${[...bizNos]}::text[])
    )
    select runtime.must(count(distinct biz_no) = ${bizNos.length}, 'an order to settle has no open reservation') from ended`;
}

/** Locks these SKUs in id order, also inactive ones, and returns their sellable quantities. */
export async function lockExistingSkuStock(tx: Transaction, ids: readonly number[]): Promise<SkuStock[]> {
  return tx<SkuStock[]>`
    select id, stock - reserved_stock as sellable from catalog.sku_stock
    where id = any(${[...ids]}::bigint[]) order by id for no key update`;
}

/** Adds these quantities to the stock of SKUs, and locks them in id order. A negative quantity leaves. */
export function changeSkuStock(tx: Transaction, change: ReadonlyMap<number, number>): Statement {
  return tx`
    with locked as materialized (
      select s.id, c.qty from catalog.sku_stock s
      join unnest(${[...change.keys()]}::bigint[], ${[...change.values()]}::int[]) as c (sku_id, qty) on s.id = c.sku_id
      order by s.id for no key update of s
    )
    update catalog.sku_stock s set stock = s.stock + locked.qty from locked where s.id = locked.id`;
}
