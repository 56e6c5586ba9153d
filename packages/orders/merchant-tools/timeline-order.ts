import { isoInZone, type Labels, type Locale, type Localized, labelOf, toWire } from '@tradepost/core';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import { loadAdditions, type OrderSection } from '../orders/order-sections.ts';
import { type OrderStatus, orderStatus } from '../orders/order-status.ts';
import { paymentMethodLabels } from '../orders/payment-methods.ts';
import type { ShipmentView } from '../schemas.ts';
import { parcelText } from './parcel-text.ts';
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
const cancelReasons: Labels = {
  user_cancel: { en: 'By the buyer', 'zh-CN': '买家取消' },
  timeout: { en: 'Not paid in time', 'zh-CN': '超时未付款' },
  merchant_close: { en: 'Closed by the merchant', 'zh-CN': '商家关闭' },
  group_failed: { en: 'Its group failed', 'zh-CN': '拼团失败' },
  after_sale_refunded: { en: 'Refunded by an after-sale', 'zh-CN': '售后退款' },
  import: { en: 'In an older shop', 'zh-CN': '历史店铺' },
};
const number: Localized = { en: 'Order ', 'zh-CN': '订单号 ' };

/** `title` replaces the title of the stage. */
type Step = { stage: Stage; title?: string; at: Date; content: string };

/** The re-shipments of an order. An exchange sends goods again, so this is the stage `shipped` with a title of its own. */
const reshipSteps = (shipments: readonly ShipmentView[]): Step[] =>
  shipments
    .filter((shipment) => shipment.biz_type === 'reship')
    .map((shipment) => ({
      stage: 'shipped',
      title: shipment.biz_type_label,
      at: new Date(shipment.shipped_at ?? shipment.created_at),
      content: parcelText(shipment),
    }));

/**
 * The stages that an order has reached: each once, and one more for each re-shipment. `received` has the time that the
 * carrier reports for the first shipment, or the time of completion when that is earlier or the carrier reports no time.
 * It is never before `shipped`: a carrier may report about a parcel before the shop does.
 */
function stepsOf(history: readonly HistoryRow[], shipments: readonly ShipmentView[], locale: Locale): Step[] {
  const first = (status: OrderStatus) => history.find((row) => row.to_status === status);
  const initial = shipments.find((shipment) => shipment.biz_type === 'initial');
  const parcel = initial ? parcelText(initial) : '';
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
  if (shipped) steps.push({ stage: 'shipped', at: shipped.created_at, content: parcel });
  const signed = initial?.signed_at ? new Date(initial.signed_at) : null;
  // When the goods of an imported order arrived is not known.
  const ended = completed?.trigger === 'import' ? null : completed?.created_at;
  const arrivals = [signed, ended].filter((at) => at != null).map(Number);
  if (arrivals.length > 0) {
    const at = new Date(Math.max(Math.min(...arrivals), Number(shipped?.created_at ?? 0)));
    steps.push({ stage: 'received', at, content: parcel });
  }
  steps.push(...reshipSteps(shipments));
  if (completed) steps.push({ stage: 'completed', at: completed.created_at, content: '' });
  if (cancelled) {
    const reason = labelOf(cancelReasons, cancelled.trigger, locale);
    steps.push({
      stage: 'cancelled',
      at: cancelled.created_at,
      content: [reason, cancelled.note].filter(Boolean).join(': '),
    });
  }
  // The times of shipments are whole seconds. The sort is stable: stages of one second stay in this order.
  const second = ({ at }: Step) => Math.floor(at.getTime() / 1000);
  return steps.sort((a, b) => second(a) - second(b));
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
  return stepsOf(history, additions.get(orderId)!.shipments, locale).map(({ stage, title, at, content }) => ({
    stage,
    status: title ?? titles[stage][locale],
    time: isoInZone(at, zone),
    content,
  }));
}
