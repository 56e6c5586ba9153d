import { defineRoute, idOrZero, idParams, nothing, type Route, text } from '@tradepost/http';
import { selectOrder } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { fulfilmentErrors } from './errors.ts';
import { shipOrders } from './ship-orders.ts';

const shipBody = z.object({
  ship_type: z.enum(['initial', 'reship']).default('initial'),
  delivery_type: z.enum(['express', 'local']).default('express'),
  company: text(32)
    .trim()
    .default('')
    .meta({ description: 'Carrier code; needed for express', examples: ['SF'] }),
  tracking_no: text(64)
    .trim()
    .default('')
    .meta({ description: 'Needed for express', examples: ['SF1234567890'] }),
  rider_name: text(64)
    .trim()
    .default('')
    .meta({ description: 'Needed for local delivery', examples: [''] }),
  rider_phone: text(32)
    .trim()
    .default('')
    .meta({ description: 'Needed for local delivery', examples: [''] }),
  after_sale_case_id: idOrZero().default(0),
  remark: text(500)
    .default('')
    .meta({ examples: ['Two parcels'] }),
});

export function fulfilmentRoutes(runtime: Runtime): Route[] {
  return [
    defineRoute({
      method: 'PUT',
      path: '/admin/api/orders/:id/ship',
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Ship a paid order: 2 -> 3, a shipment is recorded',
      params: idParams,
      body: shipBody,
      response: nothing,
      refusals: { 404: 'Order not found', 500: 'Cannot ship in current status' },
      async handle({ caller, params, body }) {
        const order = await selectOrder(runtime.sql, params.id, null);
        if (!order) throw fulfilmentErrors.order_not_found();
        if (body.ship_type === 'reship')
          // No after-sale case exists that could belong to this order.
          throw body.after_sale_case_id > 0 ? fulfilmentErrors.case_mismatch() : fulfilmentErrors.reship_needs_case();
        const [outcome] = await shipOrders(runtime, [{ order_id: params.id, ...body }], caller.id);
        if (outcome instanceof Error) throw outcome;
        return null;
      },
    }),
  ];
}
