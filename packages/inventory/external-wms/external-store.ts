import type { Statement, Transaction } from '@tradepost/postgres';
import { type ReservationRow, stateAndReservations } from '../reservations/reservation-store.ts';

const bizType = 'order';

/** What the partner is asked to hold, or holds already (`reserved`), as our own book of it; with the orders' states. */
export function insertIntendedReservations(
  tx: Transaction,
  rows: readonly ReservationRow[],
  status: 'pending' | 'reserved',
): Statement {
  return tx`with ${stateAndReservations(tx, rows, { provider: 'external_wms', status })}`;
}

/**
 * Ends the open reservations of these orders in our book; the partner is told by tasks. A reservation that the partner has
 * refused is over already and stays so.
 */
export function settleIntendedReservations(
  tx: Transaction,
  bizNos: readonly string[],
  to: 'confirmed' | 'released',
): Statement {
  return tx`
    with ended as (
      update inventory.inventory_reservation set status = ${to}, updated_at = now()
      where biz_type = ${bizType} and biz_no = any(${[...bizNos]}::text[]) and status = 'reserved'
      returning sku_id, qty
    ), demand as (
      select sku_id, sum(qty)::int as qty from ended where ${to} = 'confirmed' group by sku_id
    ), locked as materialized (
      select s.id, d.qty from catalog.sku_stock s join demand d on d.sku_id = s.id
      order by s.id for no key update of s
    ), sold as (
      update catalog.sku_stock s set sold = s.sold + locked.qty from locked where s.id = locked.id
    )
    update inventory.order_inventory_state set status = 'pending', last_error = '', updated_at = now()
    where order_no = any(${[...bizNos]}::text[])`;
}

/**
 * Reservations made ahead have found their orders: their tasks end here, in the transaction that writes the orders. Fails it
 * when one was given up meanwhile, as its release is on the way.
 */
export function finishAheadReservations(tx: Transaction, bizNos: readonly string[], now: Date): Statement {
  return tx`
    with done as (
      update inventory.inventory_integration_tasks
      set status = 'success', completed_at = ${now}, updated_at = ${now}, lock_owner = null, lock_expires_at = null,
          last_code = 0, last_error = ''
      where biz_type = ${bizType} and biz_no = any(${[...bizNos]}::text[]) and action = 'reserve' and mode = 'sync'
        and status = 'processing'
      returning id
    )
    select inventory.must_be_held(count(*) = ${bizNos.length}) from done`;
}

/** Reservations made ahead that get no order. */
export function failAheadReservations(
  tx: Transaction,
  rows: readonly { biz_no: string; code: number | null; error: string }[],
  now: Date,
): Statement {
  return tx`
    update inventory.inventory_integration_tasks t
    set status = 'failed', completed_at = ${now}, updated_at = ${now}, lock_owner = null, lock_expires_at = null,
        last_code = r.code, last_error = r.error
    from unnest(${rows.map((r) => r.biz_no)}::text[], ${rows.map((r) => r.code)}::int[], ${rows.map((r) => r.error)}::text[])
      as r (biz_no, code, error)
    where t.biz_type = ${bizType} and t.biz_no = r.biz_no and t.action = 'reserve' and t.mode = 'sync'
      and t.status = 'processing'`;
}
