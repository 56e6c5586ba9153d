import { isoInZone, type Labels, type Locale, type Localized, labelOf, toWire } from '@tradepost/core';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { loadAdditions, type OrderSection } from '../orders/order-sections.ts';
import { type OrderStatus, orderStatus } from '../orders/order-status.ts';
import type { ShipmentView } from '../schemas.ts';
import { type HistoryRow, selectHistory } from './timeline-store.ts';

export const stages = ['created', 'paid', 'shipped', 'received', 'completed', 'cancelled'] as const;
type Stage = (typeof stages)[number];

const titles: Record<Stage, Localized> = {
  created: { en: 'Ordered', 'zh-CN': '已下单' },
  paid: { en: 'Paid', 'zh-CN': '已付款' },
  shipped: { en: 'Shipped', 'zh-CN': '已发货' },
  received: { en: 'Received', 'zh-CN': '已收货' },
  completed: { en: 'Completed', 'zh-CN': '已完成' },
  cancelled: { en: 'Canceled', 'zh-CN': '已取消' },
};
export const paymentMethodLabels: Labels = {
  wechat: { en: 'WeChat Pay', 'zh-CN': '微信支付' },
  alipay: { en: 'Alipay', 'zh-CN': '支付宝' },
};
const cancelReasons: Labels = {
  user_cancel: { en: 'By the buyer', 'zh-CN': '买家取消' },
  timeout: { en: 'Not paid in time', 'zh-CN': '超时未付款' },
  merchant_close: { en: 'Closed by the merchant', 'zh-CN': '商家关闭' },
  after_sale_refunded: { en: 'Refunded by an after-sale', 'zh-CN': '售后退款' },
};
const number: Localized = { en: 'Order ', 'zh-CN': '订单号 ' };

type Step = { stage: Stage; at: Date; content: string };

/** The carrier and the tracking number, or the rider. */
function parcelText(shipment: ShipmentView | undefined): string {
  if (!shipment) return '';
  const parts =
    shipment.delivery_type === 'local'
      ? [shipment.delivery_type_label, shipment.rider_name, shipment.rider_phone]
      : [shipment.company, shipment.tracking_no];
  return parts.filter(Boolean).join(' ');
}

/**
 * The stages that an order has reached, each once. `received` has the time that the carrier reports, or the time of
 * completion when that is earlier or the carrier reports no time.
 */
function stepsOf(history: readonly HistoryRow[], shipments: readonly ShipmentView[], locale: Locale): Step[] {
  const first = (status: OrderStatus) => history.find((row) => row.to_status === status);
  const initial = shipments.find((shipment) => shipment.biz_type === 'initial');
  const created = first(orderStatus.pendingPayment);
  const paid = first(orderStatus.paid);
  const shipped = first(orderStatus.shipped);
  const completed = first(orderStatus.completed);
  const cancelled = first(orderStatus.cancelled);
  const steps: Step[] = [];
  if (created) steps.push({ stage: 'created', at: created.created_at, content: number[locale] + created.order_no });
  if (paid) {
    const method = labelOf(paymentMethodLabels, paid.payment_method, locale);
    steps.push({
      stage: 'paid',
      at: paid.created_at,
      content: `${method} ${toWire(paid.total_amount).toFixed(2)}`.trim(),
    });
  }
  if (shipped) steps.push({ stage: 'shipped', at: shipped.created_at, content: parcelText(initial) });
  const signed = initial?.signed_at ? new Date(initial.signed_at) : null;
  const received = signed && completed ? (signed < completed.created_at ? signed : completed.created_at) : signed;
  if (received ?? completed)
    steps.push({ stage: 'received', at: received ?? completed!.created_at, content: parcelText(initial) });
  if (completed) steps.push({ stage: 'completed', at: completed.created_at, content: '' });
  if (cancelled) {
    const reason = labelOf(cancelReasons, cancelled.trigger, locale);
    steps.push({
      stage: 'cancelled',
      at: cancelled.created_at,
      content: [reason, cancelled.note].filter(Boolean).join(': '),
    });
  }
  // The sort is stable: stages with the same time stay in this order.
  return steps.sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** The timeline of an order, oldest stage first. Throws a refusal when there is no such order. */
export async function orderTimeline(
  runtime: Pick<Runtime, 'sql' | 'settings'>,
  sections: readonly OrderSection[],
  orderId: number,
  locale: Locale,
) {
  const [history, additions] = await Promise.all([
    selectHistory(runtime.sql, orderId),
    loadAdditions(sections, [orderId], locale),
  ]);
  if (history.length === 0) throw orderErrors.order_not_found();
  const zone = runtime.settings.get(timeZone);
  return stepsOf(history, additions.get(orderId)!.shipments, locale).map(({ stage, at, content }) => ({
    stage,
    status: titles[stage][locale],
    time: isoInZone(at, zone),
    content,
  }));
}
