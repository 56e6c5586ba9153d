import type { ShopperNotice } from '@tradepost/identity';
import type { ShippedOrder } from '@tradepost/orders';
import type { Parcel } from './parcel.ts';

const params = ['order_no', 'parcel'] as const;

const orderShipped: ShopperNotice = {
  name: 'order_shipped',
  about: 'an order was shipped',
  params,
  texts: {
    en: 'Your order {order_no} is on its way: {parcel}.',
    'zh-CN': '您的订单 {order_no} 已发货：{parcel}。',
  },
};

const orderReshipped: ShopperNotice = {
  name: 'order_reshipped',
  about: 'the goods of an exchange were shipped',
  params,
  texts: {
    en: 'The exchange for your order {order_no} is on its way: {parcel}.',
    'zh-CN': '您的订单 {order_no} 的换货已发出：{parcel}。',
  },
};

export const shipmentNotices = [orderShipped, orderReshipped] as const;
const noticeOf = { initial: orderShipped, reship: orderReshipped };

/** One notice per parcel. Its `parcel` is the carrier code and the tracking number, or the rider. */
export function noticesOf(
  bizType: keyof typeof noticeOf,
  shipped: readonly ShippedOrder[],
  parcels: readonly (Parcel & { readonly order_id: number })[],
) {
  const orders = new Map(shipped.map((order) => [order.id, order]));
  return parcels.map(({ order_id, delivery_type, company, tracking_no, rider_name, rider_phone }) => {
    const { order_no, user_id, phone } = orders.get(order_id)!;
    const parcel = delivery_type === 'local' ? `${rider_name} ${rider_phone}` : `${company} ${tracking_no}`;
    return { notice: noticeOf[bizType].name, user_id, phone, params: { order_no, parcel } };
  });
}
