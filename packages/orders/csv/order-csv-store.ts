import { plannedByValue, type Transaction } from '@tradepost/postgres';
import type { Order, OrderItem } from '../orders/order.ts';
import { type AdminOrderFilter, conditions } from '../orders/order-page-store.ts';
import { orderColumns } from '../orders/order-store.ts';

type ExportedItem = Pick<
  OrderItem,
  'product_id' | 'sku_id' | 'title' | 'attrs' | 'price' | 'qty' | 'payable_amount' | 'activity_title'
>;
export type ExportedOrder = Order & { items: ExportedItem[] };

/**
 * The matching orders with their lines, newest first, in batches. Each batch is a statement that continues below the last
 * id, so neither the memory nor the statement timeout limits the number of orders.
 */
export async function* scanOrders(
  tx: Transaction,
  filter: AdminOrderFilter,
  batch: number,
): AsyncGenerator<ExportedOrder[]> {
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await plannedByValue(tx<ExportedOrder[]>`
      with page as (
        select o.id from orders.orders o where ${conditions(tx, filter)} and o.id < ${before}
        order by o.id desc limit ${batch}
      )
      select ${orderColumns(tx)}, (
        select coalesce(jsonb_agg(jsonb_build_object('product_id', i.product_id, 'sku_id', i.sku_id, 'title', i.title,
            'attrs', i.attrs, 'price', i.price, 'qty', i.qty, 'payable_amount', i.payable_amount,
            'activity_title', i.activity_title) order by i.id), '[]')
        from orders.order_items i where i.order_id = o.id) as items
      from page join orders.orders o using (id) order by o.id desc`);
    if (rows.length === 0) return;
    yield rows;
    before = rows.at(-1)!.id;
  }
}
