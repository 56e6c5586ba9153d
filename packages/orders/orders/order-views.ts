import { isoInZone, type Locale } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import { selectNicknames } from '@tradepost/identity';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { noteViews } from '../merchant-tools/notes/note-orders.ts';
import type { ShipmentView } from '../schemas.ts';
import { noAfterSale, type Order, type OrderItem, orderItemView, orderRowView } from './order.ts';
import type { ShippedWith } from './order-page-store.ts';
import { selectOrderItems } from './order-store.ts';

/** What other packages add to an order's answer; a package that is switched off adds nothing. */
export type OrderSections = {
  /** Orders with a shipment of this carrier. */
  shippedWith?: ShippedWith;
  /** Newest first per order. */
  shipments?: (orderIds: readonly number[], locale: Locale) => Promise<ReadonlyMap<number, ShipmentView[]>>;
};

export type ViewRequest = { request: Request; locale: Locale };

function viewOf(
  order: Order,
  items: readonly OrderItem[],
  shipments: ShipmentView[],
  at: ViewRequest,
  runtime: Runtime,
) {
  const zone = runtime.settings.get(timeZone);
  const { absolute } = fileUrls(at.request, runtime.config);
  const activity = items.find((item) => item.activity_product_id > 0);
  return {
    ...orderRowView(order, (moment) => isoInZone(moment, zone), at.locale),
    activity_type: activity?.activity_type ?? '',
    activity_name: activity?.activity_title ?? '',
    items: items.map((item) => orderItemView(item, absolute)),
    shipments,
    ...(shipments[0] ? { latest_shipment: shipments[0] } : {}),
    after_sale_summary: noAfterSale,
  };
}

/** OrderViews of these orders: one statement for all lines and one per section, however many orders. */
export async function orderViews(runtime: Runtime, sections: OrderSections, orders: readonly Order[], at: ViewRequest) {
  if (orders.length === 0) return [];
  const ids = orders.map((order) => order.id);
  const [items, shipments] = await Promise.all([
    selectOrderItems(runtime.sql, ids),
    sections.shipments?.(ids, at.locale) ?? new Map<number, ShipmentView[]>(),
  ]);
  const itemsOf = new Map<number, OrderItem[]>(ids.map((id) => [id, []]));
  for (const item of items) itemsOf.get(item.order_id)?.push(item);
  return orders.map((order) => viewOf(order, itemsOf.get(order.id) ?? [], shipments.get(order.id) ?? [], at, runtime));
}

/** OrderViews with the flattened fields of the back office. */
export async function adminOrderViews(
  runtime: Runtime,
  sections: OrderSections,
  orders: readonly Order[],
  at: ViewRequest,
) {
  const [views, notes, nicknames] = await Promise.all([
    orderViews(runtime, sections, orders, at),
    noteViews(
      runtime,
      orders.map((order) => order.id),
    ),
    orders.length > 0
      ? selectNicknames(
          runtime.sql,
          orders.map((order) => order.user_id),
        )
      : new Map<number, string>(),
  ]);
  return views.map((view) => {
    const { name, phone, province, city, district, detail } = view.address_snapshot;
    return {
      ...view,
      user_nickname: nicknames.get(view.user_id) ?? '',
      pay_amount: view.total_amount,
      pay_method: view.payment_method,
      receiver_name: name,
      receiver_phone: phone,
      receiver_address: [province, city, district, detail].filter(Boolean).join(' '),
      has_after_sale: view.after_sale_summary.latest_case_id > 0,
      notes: notes.get(view.id) ?? [],
    };
  });
}
