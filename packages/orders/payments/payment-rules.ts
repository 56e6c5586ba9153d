import { randomInt } from 'node:crypto';
import { type Labels, type Locale, labelOf, toWire } from '@tradepost/core';
import { type OrderStatus, orderStatusLabels } from '../orders/order-status.ts';

export const paymentStatuses = ['pending', 'succeeded', 'failed', 'closed', 'refunding', 'refunded'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

const labels: Labels = {
  pending: { en: 'Waiting for payment', 'zh-CN': '待支付' },
  succeeded: { en: 'Paid', 'zh-CN': '支付成功' },
  failed: { en: 'Payment failed', 'zh-CN': '支付失败' },
  closed: { en: 'Closed', 'zh-CN': '已关闭' },
  refunding: { en: 'Being refunded', 'zh-CN': '退款中' },
  refunded: { en: 'Refunded', 'zh-CN': '已退款' },
};

/** A row of orders.payments. Amounts are in minor units. */
export type Payment = {
  id: number;
  order_id: number;
  payment_no: string;
  provider: string;
  amount: number;
  currency: string;
  status: PaymentStatus;
  trade_no: string | null;
  origin_id: number | null;
  return_url: string;
  paid_at: Date | null;
  created_at: Date;
};

/** Why a payment is refunded. */
export type RefundReason = 'order_cancelled' | 'order_expired' | 'already_paid' | 'paid_twice' | 'amount_changed';

/** A prefix, 13 digits of the time in milliseconds and 10 random digits. Numbers are public, so they must not be guessable. */
function numberWith(prefix: string, at: Date): string {
  const random = String(randomInt(100_000)).padStart(5, '0') + String(randomInt(100_000)).padStart(5, '0');
  return prefix + String(at.getTime()).padStart(13, '0') + random;
}
export const paymentNumber = (at: Date) => numberWith('PAY', at);
export const refundNumber = (at: Date) => numberWith('RF', at);

/** A payment with fields of its order, as it is answered to the shopper. */
export type PaymentOfOrder = Payment & {
  order_no: string;
  order_status: OrderStatus;
  expires_at: Date;
  refunded_at: Date | null;
};

export function paymentView(payment: PaymentOfOrder, iso: (at: Date) => string, locale: Locale, payUrl: string) {
  return {
    payment_no: payment.payment_no,
    provider: payment.provider,
    order_id: payment.order_id,
    order_no: payment.order_no,
    amount: toWire(payment.amount),
    currency: payment.currency,
    status: payment.status,
    status_label: labelOf(labels, payment.status, locale),
    pay_url: payment.status === 'pending' ? payUrl : '',
    expires_at: iso(payment.expires_at),
    paid_at: payment.paid_at ? iso(payment.paid_at) : null,
    refunded_at: payment.refunded_at ? iso(payment.refunded_at) : null,
    created_at: iso(payment.created_at),
    order_status: payment.order_status,
    order_status_label: labelOf(orderStatusLabels, payment.order_status, locale),
  };
}
