import { isoInZone, type Locale, labelOf } from '@tradepost/core';
import { amountCell, textCell } from '@tradepost/csv';
import { orderStatusLabels } from '../orders/order-status.ts';
import { paymentMethodLabels } from '../orders/payment-methods.ts';

/** A line of an order in a file. Amounts are in minor units. Ids are 0 where they are not known. */
export type RecordItem = {
  product_id: number;
  sku_id: number;
  sku_code: string;
  title: string;
  /** `Colour: Cream; Size: L` */
  specs: string;
  activity: string;
  price: number;
  qty: number;
  payable_amount: number;
};

/** An order in a file. Amounts are in minor units. Ids are 0 where they are not known. */
export type OrderRecord = {
  order_no: string;
  order_id: number;
  status: number;
  created_at: Date;
  paid_at: Date | null;
  payment_method: string;
  goods_amount: number;
  discount_amount: number;
  freight_amount: number;
  total_amount: number;
  tracking_no: string;
  remark: string;
  shopper: { id: number; nickname: string; account: string; phone: string };
  receiver: { name: string; phone: string; province: string; city: string; district: string; detail: string };
  items: readonly RecordItem[];
};

/** On every line of an order. */
const keyColumns = ['order_no', 'order_id', 'status', 'status_label', 'created_at'] as const;
/** On the first line of an order, so that sums over the lines are right. CSV.md describes each. */
const orderColumns = [
  ...['paid_at', 'payment_method', 'goods_amount', 'discount_amount', 'freight_amount', 'total_amount'],
  ...['tracking_no', 'remark', 'shopper_id'],
] as const;
export const shopperColumns = ['nickname', 'shopper_account', 'shopper_phone'] as const;
const receiverColumns = ['receiver_name', 'receiver_phone', 'province', 'city', 'district', 'address'] as const;
const itemColumns = [
  ...['item_product_id', 'item_sku_id', 'item_sku_code', 'item_title', 'item_specs', 'item_activity'],
  ...['item_price', 'item_qty', 'item_payable_amount'],
] as const;
/** Ids have a meaning in their shop only. An import ignores them. */
export const idColumns: readonly string[] = ['order_id', 'shopper_id', 'item_product_id', 'item_sku_id'];

export type ShownColumns = {
  /** False leaves out who the shopper is, who gets the goods, and where. */
  readonly receivers: boolean;
  /** False leaves out ids, for a file that another shop imports. */
  readonly ids: boolean;
};

/** The columns of a file, in their order. */
export function columnsOf({ receivers, ids }: ShownColumns): string[] {
  const personal = receivers ? [...shopperColumns, ...receiverColumns] : [];
  const all = [...keyColumns, ...orderColumns, ...personal, ...itemColumns];
  return ids ? all : all.filter((name) => !idColumns.includes(name));
}

export type CellStyle = { readonly zone: string; readonly locale: Locale };
export type Cells = Readonly<Record<string, string>>;

function orderCells(order: OrderRecord, { zone, locale }: CellStyle): Cells {
  const { shopper, receiver } = order;
  return {
    paid_at: order.paid_at ? isoInZone(order.paid_at, zone) : '',
    payment_method: textCell(labelOf(paymentMethodLabels, order.payment_method, locale)),
    goods_amount: amountCell(order.goods_amount),
    discount_amount: amountCell(order.discount_amount),
    freight_amount: amountCell(order.freight_amount),
    total_amount: amountCell(order.total_amount),
    tracking_no: textCell(order.tracking_no),
    remark: textCell(order.remark),
    shopper_id: String(shopper.id),
    nickname: textCell(shopper.nickname),
    shopper_account: textCell(shopper.account),
    shopper_phone: textCell(shopper.phone),
    receiver_name: textCell(receiver.name),
    receiver_phone: textCell(receiver.phone),
    province: textCell(receiver.province),
    city: textCell(receiver.city),
    district: textCell(receiver.district),
    address: textCell(receiver.detail),
  };
}

const itemCells = (item: RecordItem): Cells => ({
  item_product_id: String(item.product_id),
  item_sku_id: String(item.sku_id),
  item_sku_code: textCell(item.sku_code),
  item_title: textCell(item.title),
  item_specs: textCell(item.specs),
  item_activity: textCell(item.activity),
  item_price: amountCell(item.price),
  item_qty: String(item.qty),
  item_payable_amount: amountCell(item.payable_amount),
});

/** The cells of each line of an order, by column. An order without items has one line. */
export function cellsOf(order: OrderRecord, style: CellStyle): Cells[] {
  const key: Cells = {
    order_no: textCell(order.order_no),
    order_id: String(order.order_id),
    status: String(order.status),
    status_label: labelOf(orderStatusLabels, order.status, style.locale),
    created_at: isoInZone(order.created_at, style.zone),
  };
  const first = orderCells(order, style);
  const items = order.items.length > 0 ? order.items.map(itemCells) : [{}];
  return items.map((item, index) => ({ ...key, ...(index === 0 ? first : {}), ...item }));
}
