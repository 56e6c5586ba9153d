import { isoInZone, type Locale } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import { selectNicknames } from '@tradepost/identity';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { noteViews } from '../merchant-tools/notes/note-orders.ts';
import { type Order, type OrderItem, orderItemView, orderRowView } from './order.ts';
import {
  loadAdditions,
  loadItemAdditions,
  noAdditions,
  type OrderAdditions,
  type OrderAnswerSections,
  type OrderItemAdditions,
} from './order-sections.ts';
import { orderStatus } from './order-status.ts';
import { selectOrderItems } from './order-store.ts';

export type ViewRequest = { request: Request; locale: Locale };

function viewOf(
  order: Order,
  items: readonly OrderItem[],
  { of, ofItems }: { of: OrderAdditions; ofItems: ReadonlyMap<number, OrderItemAdditions> },
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
    items: items.map((item) => ({ ...orderItemView(item, absolute, at.locale), ...ofItems.get(item.id) })),
    ...of,
  };
}

/**
 * The views of these orders with all additions. One statement reads all lines, and one statement per section reads the section.
 * Sections are not read for orders that were never paid, which have no shipment, case or review.
 */
async function loadViews(runtime: Runtime, sections: OrderAnswerSections, orders: readonly Order[], at: ViewRequest) {
  if (orders.length === 0) return [];
  const ids = orders.map((order) => order.id);
  const { absolute } = fileUrls(at.request, runtime.config);
  const paid = new Set(orders.filter(({ status }) => status !== orderStatus.pendingPayment).map(({ id }) => id));
  const withItems = selectOrderItems(runtime.sql, ids).then(async (items) => ({
    items,
    ofItems: await loadItemAdditions(
      sections.items,
      items.filter((item) => paid.has(item.order_id)).map((item) => item.id),
      at.locale,
      absolute,
    ),
  }));
  const [{ items, ofItems }, additions] = await Promise.all([
    withItems,
    loadAdditions(sections.orders, [...paid], at.locale),
  ]);
  const itemsOf = new Map<number, OrderItem[]>(ids.map((id) => [id, []]));
  for (const item of items) itemsOf.get(item.order_id)?.push(item);
  return orders.map((order) =>
    viewOf(order, itemsOf.get(order.id) ?? [], { of: additions.get(order.id) ?? noAdditions(), ofItems }, at, runtime),
  );
}

/** The views of these orders for their shopper. */
export async function orderViews(
  runtime: Runtime,
  sections: OrderAnswerSections,
  orders: readonly Order[],
  at: ViewRequest,
) {
  const views = await loadViews(runtime, sections, orders, at);
  return views.map(({ has_after_sale: _, ...view }) => view);
}

/** The views of these orders with the additional flat fields of the back office. */
export async function adminOrderViews(
  runtime: Runtime,
  sections: OrderAnswerSections,
  orders: readonly Order[],
  at: ViewRequest,
) {
  const [views, notes, nicknames] = await Promise.all([
    loadViews(runtime, sections, orders, at),
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
      notes: notes.get(view.id) ?? [],
    };
  });
}
