import type { Statement, Transaction } from '@tradepost/postgres';
import type { InventoryStatus } from './provider.ts';

export type ReservationRow = { biz_no: string; sku_id: number; qty: number; expires_at: Date };

/**
 * The last part of a statement: it inserts the reservations of these orders and their states. The caller writes its own
 * CTEs before it.
 */
export function stateAndReservations(
  tx: Transaction,
  rows: readonly ReservationRow[],
  { provider, status }: { provider: string; status: InventoryStatus },
): Statement {
  const bizNos = [...new Set(rows.map((row) => row.biz_no))];
  return tx`
    states as (
      insert into inventory.order_inventory_state (order_no, provider, status)
      select n, ${provider}, ${status} from unnest(${bizNos}::text[]) as n
    )
    insert into inventory.inventory_reservation (biz_type, biz_no, sku_id, qty, status, expires_at)
    select 'order', r.biz_no, r.sku_id, r.qty, 'reserved', r.expires_at
    from unnest(${rows.map((r) => r.biz_no)}::text[], ${rows.map((r) => r.sku_id)}::bigint[],
                ${rows.map((r) => r.qty)}::int[], ${rows.map((r) => r.expires_at.toISOString())}::timestamptz[])
      as r (biz_no, sku_id, qty, expires_at)`;
}
