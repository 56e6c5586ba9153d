import { isoInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, maxBatch, nothing, pagedOf, type Route } from '@tradepost/http';
import type { Inventory } from '@tradepost/inventory';
import type { PricePipeline } from '@tradepost/pricing';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { openPlacement } from '../checkout/open-placement.ts';
import { choicesIn, quoteRoute } from '../checkout/quote-route.ts';
import { openSoldTitles } from '../checkout/sold-titles.ts';
import { orderErrors } from '../errors.ts';
import { maxOrderPage } from '../limits.ts';
import { adminOrderSchema, orderListQuery, orderRowSchema, orderViewSchema, placeOrderBody } from '../schemas.ts';
import { openAdminFilter } from '../search/admin-filter.ts';
import { adminOrderListQuery } from '../search/filter-schemas.ts';
import { unpaidMinutes } from '../settings.ts';
import type { ExpirySchedule } from './expire-orders.ts';
import { openStockNotifier } from './notify-stock.ts';
import { orderRowView } from './order.ts';
import { selectAdminOrders, selectShopperOrders } from './order-page-store.ts';
import { type OrderAnswerSections, type OrderFilter, statementsOf } from './order-sections.ts';
import { orderStatusOf } from './order-status.ts';
import { type OwnedOrder, selectOrder } from './order-store.ts';
import { adminOrderViews, orderViews } from './order-views.ts';
import { cancelOrders, payOrders } from './settle-orders.ts';

export function orderRoutes(
  runtime: Runtime,
  inventory: Inventory,
  pipeline: PricePipeline,
  {
    sections,
    filters,
    methods,
    defaultMethod,
  }: {
    sections: OrderAnswerSections;
    filters: readonly OrderFilter[];
    methods: readonly string[];
    defaultMethod: () => string;
  },
  scheduleExpiry: ExpirySchedule,
): Route[] {
  const { sql, settings } = runtime;
  const deps = {
    ...{ runtime, inventory, pipeline, scheduleExpiry },
    soldTitles: openSoldTitles(),
    unpaidMinutes: () => settings.get(unpaidMinutes),
  };
  const place = openPlacement(deps);
  const pay = runtime.groupCommit<OwnedOrder, true>('pay_orders', (many, record) => payOrders(deps, many, record));
  const cancel = runtime.groupCommit<OwnedOrder, true>('cancel_orders', (many, record) =>
    cancelOrders(deps, many, 'user_cancel', record),
  );
  const notifyStock = openStockNotifier(runtime, inventory);
  /** The statements of all sections of other packages. A section of lines sends one. */
  const sectionStatements = statementsOf(sections.orders) + sections.items.length;
  const statusOf = (query: { status?: number | undefined }) => orderStatusOf(query.status ?? 0);

  const adminFilter = openAdminFilter(runtime, filters);

  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/orders',
      auth: 'shopper',
      tag: 'Orders',
      summary: 'Place an order; its stock is reserved until it is paid, cancelled or expired',
      body: placeOrderBody(pipeline.choices, methods),
      response: orderRowSchema,
      refuses: [
        orderErrors.address_not_found,
        orderErrors.cart_empty,
        orderErrors.too_many_lines,
        orderErrors.activity_not_found,
        orderErrors.no_valid_products,
        orderErrors.amount_too_large,
        orderErrors.insufficient_stock,
        orderErrors.cart_changed,
        ...pipeline.refuses,
        ...inventory.preReserveRefusals,
      ],
      repeat: 'recorded',
      // Nine always, one for the first order of a quarter of a minute, one for a title that is new to this process.
      statements: 11 + pipeline.statements.place,
      async handle({ caller, body, locale, claim }) {
        const { payment_method = defaultMethod() } = body;
        const choices = choicesIn(body, pipeline);
        const order = await place({ user_id: caller.id, locale, choices, ...body, payment_method }, claim);
        const zone = settings.get(timeZone);
        return orderRowView(order, (at) => isoInZone(at, zone), locale);
      },
    }),
    quoteRoute(runtime, pipeline),
    defineRoute({
      method: 'GET',
      path: '/api/v1/orders',
      auth: 'shopper',
      tag: 'Orders',
      summary: 'My orders, newest first',
      query: orderListQuery,
      statements: 2 + sectionStatements,
      response: pagedOf(orderViewSchema, maxOrderPage),
      async handle({ caller, query, request, locale }) {
        const paging = pagingOf(query, { cap: maxOrderPage });
        const { rows, total } = await selectShopperOrders(sql, { userId: caller.id, status: statusOf(query) }, paging);
        return paged(await orderViews(runtime, sections, rows, { request, locale }), total, paging);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/orders/:id',
      auth: 'shopper',
      tag: 'Orders',
      summary: 'One of my orders',
      params: idParams,
      statements: 2 + sectionStatements,
      response: orderViewSchema,
      refuses: [orderErrors.order_not_found],
      async handle({ caller, params, request, locale }) {
        const order = await selectOrder(sql, params.id, caller.id);
        if (!order) throw orderErrors.order_not_found();
        const [view] = await orderViews(runtime, sections, [order], { request, locale });
        return view!;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/orders/:id/pay',
      auth: 'shopper',
      tag: 'Orders',
      summary:
        'Pay an order without money, if the setting `pay.instant` allows it or the order costs 0.00: 1 -> 2, stock confirmed',
      description:
        'In a shop that takes real money this answers code 500 with a message that names `POST /api/pay/create`, and the order stays ' +
        'unpaid. The client opens a payment there: its provider is that of the `payment_method` of the order.',
      params: idParams,
      response: nothing,
      refuses: [orderErrors.instant_pay_off, orderErrors.cannot_pay],
      repeat: 'recorded',
      statements: 4,
      async handle({ caller, params, claim }) {
        await pay({ order_id: params.id, user_id: caller.id }, claim);
        await notifyStock(params.id);
        return null;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/orders/:id/cancel',
      auth: 'shopper',
      tag: 'Orders',
      summary: 'Cancel an unpaid order: 1 -> 6, stock, coupons and points released',
      params: idParams,
      response: nothing,
      refuses: [orderErrors.cannot_cancel],
      repeat: 'recorded',
      statements: 4 + pipeline.statements.release,
      async handle({ caller, params, claim }) {
        await cancel({ order_id: params.id, user_id: caller.id }, claim);
        await notifyStock(params.id);
        return null;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/orders',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'Orders of all shoppers, newest first',
      query: adminOrderListQuery,
      statements: 9 + sectionStatements,
      response: pagedOf(adminOrderSchema, maxBatch),
      refuses: [orderErrors.invalid_time],
      async handle({ query, request, locale }) {
        const paging = pagingOf(query, { cap: maxBatch });
        const { rows, total } = await selectAdminOrders(sql, await adminFilter(query), paging);
        return paged(await adminOrderViews(runtime, sections, rows, { request, locale }), total, paging);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/orders/:id',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'One order',
      params: idParams,
      statements: 4 + sectionStatements,
      response: adminOrderSchema,
      refuses: [orderErrors.order_not_found],
      async handle({ params, request, locale }) {
        const order = await selectOrder(sql, params.id, null);
        if (!order) throw orderErrors.order_not_found();
        const [view] = await adminOrderViews(runtime, sections, [order], { request, locale });
        return view!;
      },
    }),
  ];
}
