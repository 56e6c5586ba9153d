import { toMinor } from '@tradepost/core';
import { batchIds, batchResult, batchResultSchema, defineRoute, largeBody, type Route, text } from '@tradepost/http';
import type { Inventory } from '@tradepost/inventory';
import type { PricePipeline } from '@tradepost/pricing';
import { actingRuntime, type Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { closeOrders } from '../orders/close-orders.ts';
import { noteOrders } from './notes/note-orders.ts';
import { noteContent, noteVisibility } from './notes/note-schemas.ts';
import { repriceOrders } from './repricing/reprice-orders.ts';
import type { PriceChange } from './repricing/reprice-rules.ts';
import { adjustmentSchema, repriceRemark } from './repricing/reprice-schemas.ts';

const distinct = (ids: readonly number[]) => [...new Set(ids)];

function changeOf({ type, value }: z.output<typeof adjustmentSchema>): PriceChange {
  return type === 'percent' ? { percent: value } : { amount: toMinor(value) };
}

/** Actions on many orders. A refused order does not stop the others. */
export function batchRoutes(runtime: Runtime, inventory: Inventory, pipeline: PricePipeline): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/batch/notes',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Add one note to many orders',
      body: z.object({ ids: batchIds, content: noteContent, visible_to: noteVisibility }),
      response: batchResultSchema,
      statements: 2,
      async handle({ caller, body, locale, actor }) {
        const ids = distinct(body.ids);
        const { content, visible_to } = body;
        const note = { content, visible_to, staff_id: caller.id };
        return batchResult(ids, await noteOrders(actingRuntime(runtime, actor), ids, note), locale);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/batch/repricing',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Change the total of unpaid orders by a percentage or an amount',
      body: z.object({ ids: batchIds, adjustment: adjustmentSchema, remark: repriceRemark }),
      response: batchResultSchema,
      statements: 4,
      repeat: 'recorded',
      async handle({ caller, body, locale, write }) {
        const ids = distinct(body.ids);
        const change = changeOf(body.adjustment);
        const requests = ids.map((order_id) => ({ order_id, change }));
        const by = { staff_id: caller.id, remark: body.remark, now: runtime.now() };
        return write(async (tx) => batchResult(ids, await repriceOrders(tx, requests, by), locale));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/batch/close',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Close unpaid orders: 1 -> 6, stock, coupons and points released',
      body: z.object({
        ids: batchIds,
        reason: text(200)
          .trim()
          .default('')
          .meta({ examples: ['Sold out'] }),
      }),
      response: batchResultSchema,
      statements: 4 + pipeline.statements.release,
      repeat: 'natural',
      async handle({ caller, body, locale, actor }) {
        const ids = distinct(body.ids);
        const by = { staff_id: caller.id, note: body.reason };
        return batchResult(
          ids,
          await closeOrders({ runtime: actingRuntime(runtime, actor), inventory, pipeline }, ids, by),
          locale,
        );
      },
    }),
  ];
}
