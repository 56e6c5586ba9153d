import { toWire } from '@tradepost/core';
import { defineInboxTemplate, type InboxTemplate, type InboxTexts } from '@tradepost/module';
import { type OrderFacts, orderCancelled, orderCompleted, orderPaid, orderRefunded } from './order-events.ts';

type OrderTexts<Facts extends OrderFacts> = InboxTexts<Facts> & {
  /** The amount of the message in minor units. Default: what the shopper pays for the order. */
  readonly amount?: (facts: Facts) => number;
};

const orderTemplate = <Facts extends OrderFacts>({ amount, ...texts }: OrderTexts<Facts>): InboxTemplate =>
  defineInboxTemplate<Facts, 'order_no' | 'amount'>({
    ...texts,
    group: 'order',
    params: ['order_no', 'amount'],
    receiver: ({ user_id }) => user_id,
    values: (facts) => ({
      order_no: facts.order_no,
      amount: toWire(amount?.(facts) ?? facts.total_amount).toFixed(2),
    }),
    data: ({ order_id, order_no }) => ({ order_id, order_no }),
  });

/**
 * The inbox messages about orders. Acts of the shopper write none: placing or cancelling an order, and the review that
 * completes it.
 */
export const orderInboxTemplates: readonly InboxTemplate[] = [
  orderTemplate({
    name: 'order_paid',
    about: 'the payment of an order has arrived',
    event: orderPaid,
    title: { en: 'Order paid', 'zh-CN': '订单支付成功' },
    content: {
      en: 'We have received your payment of {amount} for order {order_no}.',
      'zh-CN': '您的订单 {order_no} 已支付成功，金额 {amount}。',
    },
  }),
  orderTemplate({
    name: 'order_expired',
    about: 'an unpaid order was cancelled by the time limit',
    event: orderCancelled,
    applies: ({ reason }) => reason === 'timeout',
    title: { en: 'Order cancelled', 'zh-CN': '订单已取消' },
    content: {
      en: 'Your order {order_no} was not paid in time and was cancelled.',
      'zh-CN': '您的订单 {order_no} 超时未支付，已自动取消。',
    },
  }),
  orderTemplate({
    name: 'order_closed',
    about: 'an unpaid order was closed by the merchant',
    event: orderCancelled,
    applies: ({ reason }) => reason === 'merchant_close',
    title: { en: 'Order closed', 'zh-CN': '订单已关闭' },
    content: {
      en: 'The shop has closed your order {order_no}.',
      'zh-CN': '您的订单 {order_no} 已被商家关闭。',
    },
  }),
  orderTemplate({
    name: 'order_completed',
    about: 'a shipped order was completed after some days',
    event: orderCompleted,
    applies: ({ trigger }) => trigger === 'auto_complete',
    title: { en: 'Order completed', 'zh-CN': '订单已完成' },
    content: {
      en: 'Your order {order_no} is complete. You can still review it.',
      'zh-CN': '您的订单 {order_no} 已自动完成，欢迎评价。',
    },
  }),
  orderTemplate({
    name: 'order_refunded',
    about: 'money of an order was returned to the shopper',
    event: orderRefunded,
    amount: ({ amount }) => amount,
    title: { en: 'Refund paid', 'zh-CN': '退款成功' },
    content: {
      en: 'We have returned {amount} for your order {order_no}.',
      'zh-CN': '您的订单 {order_no} 已退款 {amount}。',
    },
  }),
];
