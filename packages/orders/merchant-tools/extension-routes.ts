import { isoInZone, toMinor, toWire } from '@tradepost/core';
import { defineRoute, id, idParams, list, type Route, text, timestamp } from '@tradepost/http';
import { type Messenger, messageChannels } from '@tradepost/identity';
import { actingRuntime, type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { orderErrors } from '../errors.ts';
import { maxReminders, maxShipments } from '../limits.ts';
import { loadAdditions, type OrderSection, statementsOf } from '../orders/order-sections.ts';
import { selectOrder, selectOrderItems } from '../orders/order-store.ts';
import { remindMinutes } from '../settings.ts';
import { noteOrders, noteViews } from './notes/note-orders.ts';
import { noteContent, notesView, noteVisibility } from './notes/note-schemas.ts';
import { orderSheet } from './print-order.ts';
import { refuseWithoutSender, remindOrders } from './reminders/remind-orders.ts';
import { selectReminders } from './reminders/remind-store.ts';
import { repriceOrders } from './repricing/reprice-orders.ts';
import { repriceBody, repricedView } from './repricing/reprice-schemas.ts';
import { orderTimeline, stages } from './timeline-order.ts';

const channel = z.enum(messageChannels);

/** The actions of the merchant app on one order. */
export function extensionRoutes(
  { runtime, messenger }: { runtime: Runtime; messenger: Messenger },
  sections: readonly OrderSection[],
): Route[] {
  const { sql, settings } = runtime;
  const iso = (at: Date) => isoInZone(at, settings.get(timeZone));

  return [
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/:id/repricing',
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Set new unit prices for lines of an unpaid order',
      params: idParams,
      body: repriceBody,
      response: repricedView,
      refuses: [
        orderErrors.order_not_found,
        orderErrors.cannot_reprice,
        orderErrors.repriced_twice,
        orderErrors.foreign_items,
        orderErrors.price_too_low,
        orderErrors.amount_too_large,
      ],
      statements: 4,
      repeat: 'recorded',
      async handle({ caller, params, body, write }) {
        const items = body.items.map(({ item_id, price }) => ({ item_id, price: toMinor(price) }));
        const by = { staff_id: caller.id, remark: body.remark, now: runtime.now() };
        const amounts = await write(async (tx) => {
          const [outcome] = await repriceOrders(tx, [{ order_id: params.id, change: { items } }], by);
          if (!outcome || outcome instanceof Error) throw outcome;
          return outcome;
        });
        return {
          id: params.id,
          amount_breakdown: {
            goods_amount: toWire(amounts.goods_amount),
            discount_amount: toWire(amounts.discount_amount),
            freight_amount: toWire(amounts.freight_amount),
            payable_amount: toWire(amounts.total_amount),
          },
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/:id/notes',
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Add a note; only the merchant sees it',
      params: idParams,
      body: z.object({ content: noteContent, visible_to: noteVisibility }),
      response: z.object({ id: id(), notes: notesView.meta({ description: 'all notes of the order, oldest first' }) }),
      refuses: [orderErrors.order_not_found, orderErrors.too_many_notes],
      statements: 3,
      async handle({ caller, params, body, actor }) {
        const [outcome] = await noteOrders(actingRuntime(runtime, actor), [params.id], {
          ...body,
          staff_id: caller.id,
        });
        if (outcome instanceof Error) throw outcome;
        return { id: params.id, notes: (await noteViews(runtime, [params.id])).get(params.id) ?? [] };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/:id/remind-pay',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'Remind the buyer of an unpaid order to pay; a job sends the message',
      params: idParams,
      body: z.object({ channel }),
      response: z.object({ sent_at: timestamp(), channel }),
      refuses: [
        orderErrors.no_sender,
        orderErrors.sender_not_ready,
        orderErrors.order_not_found,
        orderErrors.cannot_remind,
        orderErrors.reminded_already,
      ],
      statements: 3,
      repeat: 'natural',
      async handle({ caller, params, body, actor }) {
        refuseWithoutSender(messenger, body.channel);
        const everyMinutes = settings.get(remindMinutes);
        const by = { ...body, staff_id: caller.id, everyMinutes };
        const [outcome] = await remindOrders(actingRuntime(runtime, actor), [params.id], by);
        if (!outcome || outcome instanceof Error) throw outcome;
        return { sent_at: iso(runtime.now()), channel: body.channel };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/orders/:id/reminders',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'Reminders of an order with their status, newest first',
      params: idParams,
      response: list(
        z.object({
          id: id(),
          order_id: id(),
          channel,
          status: z.enum(['queued', 'sent', 'failed', 'skipped']),
          attempts: z.int().meta({ examples: [1] }),
          last_error: z.string(),
          created_at: timestamp(),
          sent_at: timestamp().nullable(),
        }),
        maxReminders,
      ),
      statements: 1,
      handle: async ({ params }) =>
        (await selectReminders(sql, params.id)).map((reminder) => ({
          ...reminder,
          created_at: iso(reminder.created_at),
          sent_at: reminder.sent_at ? iso(reminder.sent_at) : null,
        })),
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/orders/:id/print-template',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'Print sheet of an order',
      params: idParams,
      query: z.object({
        template: text(64)
          .default('order')
          .meta({
            description: 'order, or packing for a list without prices; another name counts as order',
            examples: ['order'],
          }),
      }),
      response: z.object({ template: z.string().meta({ description: 'HTML', examples: ['<div>Order</div>'] }) }),
      refuses: [orderErrors.order_not_found],
      statements: 2 + statementsOf(sections),
      async handle({ params, query, locale }) {
        const [order, items, additions] = await Promise.all([
          selectOrder(sql, params.id, null),
          selectOrderItems(sql, [params.id]),
          loadAdditions(sections, [params.id], locale),
        ]);
        if (!order) throw orderErrors.order_not_found();
        const { shipments } = additions.get(params.id)!;
        const at = { template: query.template, zone: settings.get(timeZone), locale };
        return { template: orderSheet({ order, items, shipments }, at) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/orders/:id/timeline',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'Timeline of an order, oldest stage first',
      params: idParams,
      response: list(
        z.object({
          stage: z.enum(stages),
          status: z.string().meta({ description: 'title to show', examples: ['Paid'] }),
          time: timestamp(),
          content: z.string().meta({ examples: ['WeChat Pay 25.80'] }),
        }),
        stages.length + maxShipments,
      ),
      refuses: [orderErrors.order_not_found],
      statements: 1 + statementsOf(sections),
      handle: ({ params, locale }) => orderTimeline(runtime, sections, params.id, locale),
    }),
  ];
}
