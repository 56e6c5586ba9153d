import type { Queryable } from '@tradepost/postgres';
import type { Order } from '../orders/order.ts';
import type { OrderStatus } from '../orders/order-status.ts';

export type HistoryRow = Pick<Order, 'order_no' | 'payment_method' | 'total_amount'> & {
  to_status: OrderStatus;
  trigger: string;
  note: string;
  created_at: Date;
};

/** The transitions of an order, oldest first, each with the order number and payment. Empty when there is no such order. */
export async function selectHistory(sql: Queryable, orderId: number): Promise<HistoryRow[]> {
  return sql<HistoryRow[]>`
    select o.order_no, o.payment_method, o.total_amount, h.to_status, h.trigger, h.note, h.created_at
    from orders.orders o join orders.order_history h on h.order_id = o.id
    where o.id = ${orderId} order by h.id`;
}
