import { type Attribute, attrsIn, textsIn } from '@tradepost/catalog';
import { type Labels, type Locale, labelOf, toWire } from '@tradepost/core';
import type { Address } from '@tradepost/identity';
import type { InventoryStatus } from '@tradepost/inventory';
import { type Discount, discountLabels } from '@tradepost/pricing';
import { type OrderStatus, orderStatusLabels } from './order-status.ts';
import { paymentMethodLabels } from './payment-methods.ts';

const inventoryStatusLabels: Labels = {
  none: { en: 'Not Reserved', 'zh-CN': '未预占' },
  pending: { en: 'Processing', 'zh-CN': '处理中' },
  reserved: { en: 'Reserved', 'zh-CN': '已预占' },
  confirmed: { en: 'Deducted', 'zh-CN': '已扣减' },
  released: { en: 'Released', 'zh-CN': '已释放' },
  failed: { en: 'Failed', 'zh-CN': '失败' },
};

/** The type of a discount by a change of the merchant. Its name is empty. */
export const repricing = 'repricing';
const discountTypeLabels: Labels = { ...discountLabels, [repricing]: { en: 'Price Change', 'zh-CN': '商家改价' } };

/** The delivery address at the time of the order. */
export type AddressSnapshot = Omit<Address, 'is_default' | 'created_at' | 'updated_at'> & { is_default: 0 | 1 };

/** A row of orders.orders. Amounts are in minor units. */
export type Order = {
  id: number;
  order_no: string;
  user_id: number;
  merchant_id: number;
  status: OrderStatus;
  inventory_status: InventoryStatus;
  payment_method: string;
  goods_amount: number;
  discount_amount: number;
  freight_amount: number;
  total_amount: number;
  /** Adds up to `discount_amount`; null for none. */
  discounts: readonly Discount[] | null;
  /** The price steps of which the order uses something; null for none. */
  price_steps: readonly string[] | null;
  address_snapshot: AddressSnapshot;
  remark: string;
  tracking_no: string;
  expires_at: Date;
  paid_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type OrderItem = {
  id: number;
  order_id: number;
  warehouse_id: number;
  product_id: number;
  sku_id: number;
  activity_product_id: number;
  activity_id: number;
  activity_type: string;
  activity_title: string;
  title: string;
  cover: string;
  attrs: Attribute[];
  price: number;
  qty: number;
  payable_amount: number;
  /** The shares of the line in the discounts of the order; null for none. */
  discounts: readonly Discount[] | null;
};

/** 13 digits of the time in milliseconds and 6 digits of the order id. Unique without a lookup, and sorted by time. */
export function orderNumber(id: number, at: Date): string {
  return String(at.getTime()).padStart(13, '0') + String(id % 1_000_000).padStart(6, '0');
}

export const discountsView = (discounts: readonly Discount[] | null, locale: Locale) =>
  (discounts ?? []).map(({ type, name, amount }) => {
    const type_label = labelOf(discountTypeLabels, type, locale);
    const value = toWire(amount);
    return { type, type_label, name: name || type_label, amount: value, discount: value };
  });

export function amountBreakdown(
  order: Pick<Order, 'goods_amount' | 'discount_amount' | 'freight_amount' | 'total_amount'>,
) {
  return {
    goods_amount: toWire(order.goods_amount),
    discount_amount: toWire(order.discount_amount),
    freight_amount: toWire(order.freight_amount),
    payable_amount: toWire(order.total_amount),
  };
}

/** Title and attributes of an order line in the language of the buyer. They are stored: an order keeps what the buyer saw. */
export function lineTexts(
  product: { title: string; subtitle: string; translations: Parameters<typeof attrsIn>[1]; attrs: Attribute[] },
  locale: Locale,
) {
  return { title: textsIn(product, locale).title, attrs: attrsIn(product.attrs, product.translations, locale) };
}

/** The order in an answer, without lines and shipments. */
export function orderRowView(order: Order, iso: (at: Date) => string, locale: Locale) {
  return {
    id: order.id,
    order_no: order.order_no,
    user_id: order.user_id,
    merchant_id: order.merchant_id,
    status: order.status,
    status_label: labelOf(orderStatusLabels, order.status, locale),
    inventory_status: order.inventory_status,
    inventory_status_label: labelOf(inventoryStatusLabels, order.inventory_status, locale),
    payment_method: order.payment_method,
    payment_method_label: labelOf(paymentMethodLabels, order.payment_method, locale),
    goods_amount: toWire(order.goods_amount),
    discount_amount: toWire(order.discount_amount),
    freight_amount: toWire(order.freight_amount),
    total_amount: toWire(order.total_amount),
    amount_breakdown: amountBreakdown(order),
    discounts: discountsView(order.discounts, locale),
    address_snapshot: order.address_snapshot,
    remark: order.remark,
    tracking_no: order.tracking_no,
    expires_at: iso(order.expires_at),
    paid_at: order.paid_at ? iso(order.paid_at) : null,
    created_at: iso(order.created_at),
    updated_at: iso(order.updated_at),
  };
}

export function orderItemView(item: OrderItem, fileUrl: (path: string) => string, locale: Locale) {
  const { payable_amount, discounts, ...fields } = item;
  return {
    ...fields,
    order_item_id: item.id,
    cover: fileUrl(item.cover),
    attrs: JSON.stringify(item.attrs),
    price: toWire(item.price),
    payable_amount: toWire(payable_amount),
    discounts: discountsView(discounts, locale),
  };
}
