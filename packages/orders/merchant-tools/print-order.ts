import type { Attribute } from '@tradepost/catalog';
import { isoInZone, type Locale, type Localized, labelOf, toWire } from '@tradepost/core';
import { type Html, html } from '@tradepost/http';
import type { Order, OrderItem } from '../orders/order.ts';
import { paymentMethodLabels } from '../orders/payment-methods.ts';
import type { ShipmentView } from '../schemas.ts';
import { parcelText } from './parcel-text.ts';

const words = {
  order: { en: 'Order', 'zh-CN': '订单' },
  packing: { en: 'Packing list', 'zh-CN': '配货单' },
  number: { en: 'Order number', 'zh-CN': '订单号' },
  ordered: { en: 'Ordered', 'zh-CN': '下单时间' },
  paid: { en: 'Paid', 'zh-CN': '付款时间' },
  unpaid: { en: 'not paid', 'zh-CN': '未付款' },
  method: { en: 'Payment method', 'zh-CN': '支付方式' },
  receiver: { en: 'Receiver', 'zh-CN': '收货人' },
  address: { en: 'Address', 'zh-CN': '收货地址' },
  remark: { en: 'Remark', 'zh-CN': '买家备注' },
  shipment: { en: 'Shipment', 'zh-CN': '发货信息' },
  item: { en: 'Item', 'zh-CN': '商品' },
  qty: { en: 'Qty', 'zh-CN': '数量' },
  price: { en: 'Price', 'zh-CN': '单价' },
  sum: { en: 'Sum', 'zh-CN': '小计' },
  goods: { en: 'Goods', 'zh-CN': '商品金额' },
  discount: { en: 'Discount', 'zh-CN': '优惠' },
  freight: { en: 'Freight', 'zh-CN': '运费' },
  payable: { en: 'Total', 'zh-CN': '合计' },
} as const satisfies Record<string, Localized>;

const money = (minor: number) => toWire(minor).toFixed(2);
const attrsText = (attrs: readonly Attribute[]) => attrs.map(({ name, value }) => `${name}: ${value}`).join(', ');

const cell = 'padding:4px 6px;border-bottom:1px solid #ddd;';
const right = `${cell}text-align:right;white-space:nowrap;`;

function itemRow(item: OrderItem, withPrices: boolean): Html {
  const attrs = attrsText(item.attrs);
  const title = html`${item.title}${attrs ? html`<br><span style="color:#666;font-size:12px">${attrs}</span>` : ''}`;
  const prices = withPrices
    ? html`<td style="${right}">${money(item.price)}</td><td style="${right}">${money(item.price * item.qty)}</td>`
    : html``;
  return html`<tr><td style="${cell}">${title}</td><td style="${right}">${item.qty}</td>${prices}</tr>`;
}

/** The outbound parcels, oldest first, each with its kind. A parcel that comes back is not on the sheet. */
const parcelTexts = (shipments: readonly ShipmentView[]): string[] =>
  shipments
    .filter(({ direction }) => direction === 'outbound')
    .map((shipment) => `${parcelText(shipment)} (${shipment.biz_type_label})`)
    .reverse();

/**
 * The print sheet of an order: an HTML fragment with inline styles. The app shows it as rich text, a browser prints it. The
 * template `packing` has no prices and no shipments, because it is printed before the order is shipped; every other name is
 * the complete order. `shipments` are newest first.
 */
export function orderSheet(
  { order, items, shipments }: { order: Order; items: readonly OrderItem[]; shipments: readonly ShipmentView[] },
  at: { template: string; zone: string; locale: Locale },
): string {
  const { locale, zone } = at;
  const packing = at.template === 'packing';
  const word = (name: keyof typeof words) => words[name][locale];
  const { name, phone, province, city, district, detail } = order.address_snapshot;
  const fact = (label: string, value: string) =>
    value === '' ? html`` : html`<p style="margin:2px 0"><strong>${label}</strong> ${value}</p>`;
  const head = (label: string, style: string) => html`<th style="${style}">${label}</th>`;
  const amount = (label: string, value: string, style = '') =>
    html`<tr><td style="padding:2px 6px;text-align:right;${style}">${label}</td><td style="padding:2px 6px;text-align:right;width:110px;${style}">${value}</td></tr>`;
  const bought = [
    fact(word('ordered'), isoInZone(order.created_at, zone).replace('T', ' ').slice(0, 16)),
    fact(word('paid'), order.paid_at ? isoInZone(order.paid_at, zone).replace('T', ' ').slice(0, 16) : word('unpaid')),
    fact(word('method'), labelOf(paymentMethodLabels, order.payment_method, locale)),
    ...parcelTexts(shipments).map((parcel) => fact(word('shipment'), parcel)),
  ];
  const sums = html`<table style="width:100%;margin-top:8px">${[
    amount(word('goods'), money(order.goods_amount)),
    ...(order.discount_amount > 0 ? [amount(word('discount'), `-${money(order.discount_amount)}`)] : []),
    ...(order.freight_amount > 0 ? [amount(word('freight'), money(order.freight_amount))] : []),
    amount(word('payable'), money(order.total_amount), 'font-weight:bold;'),
  ]}</table>`;
  const sheet = html`<div style="font-family:sans-serif;font-size:14px;color:#000;max-width:720px"><h2 style="margin:0 0 8px">${word(packing ? 'packing' : 'order')}</h2>${[
    fact(word('number'), order.order_no),
    ...(packing ? [] : bought),
    fact(word('receiver'), [name, phone].filter(Boolean).join(' ')),
    fact(word('address'), [province, city, district, detail].filter(Boolean).join(' ')),
    fact(word('remark'), order.remark),
  ]}<table style="width:100%;border-collapse:collapse;margin-top:8px"><thead><tr>${[
    head(word('item'), `${cell}text-align:left`),
    head(word('qty'), right),
    ...(packing ? [] : [head(word('price'), right), head(word('sum'), right)]),
  ]}</tr></thead><tbody>${items.map((item) => itemRow(item, !packing))}</tbody></table>${packing ? html`` : sums}</div>`;
  return sheet.html;
}
