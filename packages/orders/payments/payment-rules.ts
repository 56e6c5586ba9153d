import { randomInt } from 'node:crypto';
import { type Labels, type Locale, labelOf, toWire } from '@tradepost/core';
import { type OrderStatus, orderStatusLabels } from '../orders/order-status.ts';
import type { SubjectRefusal } from './subjects/payment-subject.ts';

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
  /** The way to pay at the provider; empty where it has only one. */
  channel: string;
  /** What the provider answered when the payment was opened there. */
  pay_action: StoredAction | null;
  /** The payment has to be opened again afterwards. */
  action_until: Date | null;
  paid_at: Date | null;
  created_at: Date;
};

/** How the shopper pays: at an address, or with parameters for the SDK of the provider in an app. */
export type StoredAction = {
  pay_url: string;
  pay_params: Readonly<Record<string, string>>;
  /** The number of the opened payment at the provider; empty when it has none yet. */
  provider_ref: string;
};

/** How long before its end an answer of a provider is not used any more: the shopper still has to pay. */
const actionMarginMs = 60_000;

/** The answer of the provider, if the shopper can still use it. */
export const usableAction = (
  { pay_action, action_until }: Pick<Payment, 'pay_action' | 'action_until'>,
  now: Date,
): StoredAction | null =>
  action_until && action_until.getTime() - actionMarginMs <= now.getTime() ? null : pay_action;

/** A payment of an order, or of the subject of another package (`paymentSubjects`), which has no order. */
export type Money = Omit<Payment, 'order_id'> & {
  order_id: number | null;
  subject?: string | null;
  subject_id?: number | null;
};

/** A payment that is inserted. */
export type NewMoney = Omit<Money, 'id' | 'pay_action' | 'action_until'>;

/** Why a payment is refunded. */
export type RefundReason =
  | 'order_cancelled'
  | 'order_expired'
  | 'already_paid'
  | 'paid_twice'
  | 'amount_changed'
  | SubjectRefusal;

/** A prefix, 13 digits of the time in milliseconds and 10 random digits. Numbers are public, so they must not be guessable. */
export function numberWith(prefix: string, at: Date): string {
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

export function paymentView(
  payment: PaymentOfOrder,
  { iso, locale, payUrl, now }: { iso: (at: Date) => string; locale: Locale; payUrl: string; now: Date },
) {
  const action = payment.status === 'pending' ? usableAction(payment, now) : null;
  return {
    payment_no: payment.payment_no,
    provider: payment.provider,
    order_id: payment.order_id,
    order_no: payment.order_no,
    amount: toWire(payment.amount),
    currency: payment.currency,
    status: payment.status,
    status_label: labelOf(labels, payment.status, locale),
    channel: payment.channel,
    pay_url: payment.status === 'pending' ? payUrl : '',
    pay_params: action?.pay_params ?? {},
    prepay_id: action?.provider_ref ?? '',
    expires_at: iso(payment.expires_at),
    paid_at: payment.paid_at ? iso(payment.paid_at) : null,
    refunded_at: payment.refunded_at ? iso(payment.refunded_at) : null,
    created_at: iso(payment.created_at),
    order_status: payment.order_status,
    order_status_label: labelOf(orderStatusLabels, payment.order_status, locale),
  };
}
