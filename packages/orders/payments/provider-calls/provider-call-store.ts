import type { Sql } from '@tradepost/postgres';
import type { Payment } from '../payment-rules.ts';

/** A payment as it is opened, checked or closed at its provider. */
export type PaymentAtProvider = Omit<Payment, 'order_id' | 'id' | 'paid_at'> & {
  /** Empty for the payment of a subject. */
  order_no: string;
  /** Until when it can be paid; null for money that the shop did not wait for. */
  expires_at: Date | null;
  /** Whether the shop still waits for the money. */
  is_open: boolean;
};

export async function selectPaymentAtProvider(
  sql: Sql,
  paymentNo: string,
  now: Date,
): Promise<PaymentAtProvider | undefined> {
  const [row] = await sql<PaymentAtProvider[]>`
    select p.payment_no, p.provider, p.amount, p.currency, p.status, p.trade_no, p.origin_id, p.return_url, p.channel,
      p.pay_action, p.action_until, p.created_at, coalesce(o.order_no, '') as order_no,
      coalesce(o.expires_at, p.expires_at) as expires_at,
      p.status = 'pending' and coalesce(o.status, 1) = 1 and coalesce(o.expires_at, p.expires_at) > ${now} as is_open
    from orders.payments p left join orders.orders o on o.id = p.order_id
    where p.payment_no = ${paymentNo}`;
  return row;
}

/** The payment method of an order of this shopper. */
export async function selectPaymentMethod(sql: Sql, orderId: number, userId: number): Promise<string> {
  const [row] = await sql<{ payment_method: string }[]>`
    select payment_method from orders.orders where id = ${orderId} and user_id = ${userId}`;
  return row?.payment_method ?? '';
}
