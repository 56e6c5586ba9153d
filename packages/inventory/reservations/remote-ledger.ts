import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { InventoryStatus } from './provider.ts';
import { type ReservationRow, stateAndReservations } from './reservation-store.ts';

/**
 * The stock ledger of orders whose stock a remote provider holds. A remote provider writes here which reservations its
 * partner has. On SKUs it changes only the sold quantity.
 */
const bizType = 'order';

/** Writes reservations and the states of their orders. The status is `pending` until the partner has reserved. */
export function insertRemoteReservations(
  tx: Transaction,
  rows: readonly ReservationRow[],
  values: { provider: string; status: 'pending' | 'reserved' },
): Statement {
  return tx`with ${stateAndReservations(tx, rows, values)}`;
}

/**
 * Ends the open reservations of these orders. The orders are pending until the partner has answered. A reservation that
 * the partner refused has already ended and does not change.
 */
export function settleRemoteReservations(
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

export type OrderStatusRow = { order_no: string; status: InventoryStatus };

/**
 * Writes the states of orders and returns them. `statuses` is a query with the columns order_no, status and last_error. The
 * caller has locked the orders. `shipped`: orders that the partner has confirmed. Their reservations count as sold, also when
 * they were released here because the answer to the reserve was lost.
 */
export function writeRemoteStates(
  tx: Transaction,
  statuses: Statement,
  { shipped, now }: { shipped: readonly string[]; now: Date },
) {
  return tx<OrderStatusRow[]>`
    with taken as (
      update inventory.inventory_reservation set status = 'confirmed', updated_at = ${now}
      where biz_type = 'order' and biz_no = any(${[...shipped]}::text[]) and status = 'released'
      returning sku_id, qty
    ), locked as materialized (
      select s.id, d.qty from catalog.sku_stock s
      join (select sku_id, sum(qty)::int as qty from taken group by sku_id) as d on d.sku_id = s.id
      order by s.id for no key update of s
    ), sold as (
      update catalog.sku_stock s set sold = s.sold + locked.qty from locked where s.id = locked.id
    )
    update inventory.order_inventory_state s
    set status = v.status, last_error = case when v.status = 'failed' then v.last_error else '' end, updated_at = ${now}
    from (${statuses}) as v
    where s.order_no = v.order_no
    returning s.order_no, s.status`;
}

/** Ends open reservations that the partner has refused. */
export function endRemoteReservations(tx: Transaction, orderNos: readonly string[], now: Date): Statement {
  return tx`
    update inventory.inventory_reservation set status = 'released', updated_at = ${now}
    where biz_type = 'order' and biz_no = any(${[...orderNos]}::text[]) and status = 'reserved'`;
}

/** Opens refused reservations again, before their reserve is sent again. */
export function reopenRemoteReservations(tx: Transaction, orderNos: readonly string[], now: Date): Statement {
  return tx`
    update inventory.inventory_reservation set status = 'reserved', updated_at = ${now}
    where biz_type = 'order' and biz_no = any(${[...orderNos]}::text[]) and status = 'released'`;
}

/** An SQL condition: the order with this number exists. `orderNo` is an SQL expression. */
export const orderIsWritten = (sql: Queryable, orderNo: Statement) =>
  sql`exists (select from inventory.order_inventory_state s where s.order_no = ${orderNo})`;

/** An SQL condition: the stock of the order with this number is neither confirmed nor released. `orderNo` is an SQL expression. */
export const isOrderOpen = (sql: Queryable, orderNo: Statement) =>
  sql`exists (
    select from inventory.order_inventory_state s
    where s.order_no = ${orderNo} and s.status not in ('confirmed', 'released'))`;

/** An SQL expression: the inventory status of the order with this number, or null when there is no such order. */
export const inventoryStatusOf = (sql: Queryable, orderNo: Statement) =>
  sql`(select s.status from inventory.order_inventory_state s where s.order_no = ${orderNo})`;
