import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { InventoryStatus } from '../../reservations/provider.ts';

export type OrderStatusRow = { order_no: string; status: InventoryStatus };

/**
 * The inventory status of orders as their tasks have it. While a task is open the order waits, but a failure shows at once
 * (`failedNow`: the orders with one that is written just now); when all have ended, the latest intent decides.
 */
export const orderStatuses = (sql: Queryable, orderNos: readonly string[], failedNow: readonly string[] = []) => sql`
  select t.biz_no as order_no,
    case when bool_or(t.status in ('pending', 'processing'))
      then case when t.biz_no = any(${[...failedNow]}::text[]) then 'failed' else 'pending' end
      else (array_agg(
        case when t.status = 'failed' then 'failed'
             when t.action = 'reserve' then 'reserved'
             when t.action in ('confirm', 'deduct') then 'confirmed'
             when t.action in ('release', 'restore') then 'released'
             else 'none' end
        order by t.id desc))[1]
    end as status,
    coalesce((array_agg(t.last_error order by t.id desc) filter (where t.status = 'failed'))[1], '') as last_error
  from inventory.inventory_integration_tasks t
  where t.biz_type = 'order' and t.biz_no = any(${[...orderNos]}::text[])
  group by t.biz_no`;

/**
 * Writes what the tasks of these orders say into the books here, and answers it. The caller has locked the orders. `gone`: the
 * partner has just taken their pieces, also of those whose reserve had failed here because its answers never came.
 */
export function writeOrderStates(
  tx: Transaction,
  orderNos: readonly string[],
  { failedNow, gone, now }: { failedNow: readonly string[]; gone: readonly string[]; now: Date },
): Statement {
  return tx<OrderStatusRow[]>`
    with taken as (
      update inventory.inventory_reservation set status = 'confirmed', updated_at = ${now}
      where biz_type = 'order' and biz_no = any(${[...gone]}::text[]) and status = 'released'
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
    from (${orderStatuses(tx, orderNos, failedNow)}) as v
    where s.order_no = v.order_no
    returning s.order_no, s.status`;
}

/** The partner will not hold anything for these orders. */
export function endReservations(tx: Transaction, orderNos: readonly string[], now: Date): Statement {
  return tx`
    update inventory.inventory_reservation set status = 'released', updated_at = ${now}
    where biz_type = 'order' and biz_no = any(${[...orderNos]}::text[]) and status = 'reserved'`;
}

/** The partner is asked again. */
export function reopenReservations(tx: Transaction, orderNos: readonly string[], now: Date): Statement {
  return tx`
    update inventory.inventory_reservation set status = 'reserved', updated_at = ${now}
    where biz_type = 'order' and biz_no = any(${[...orderNos]}::text[]) and status = 'released'`;
}
