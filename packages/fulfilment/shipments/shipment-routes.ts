import {
  batchResult,
  batchResultSchema,
  defineRoute,
  id,
  idOrZero,
  idParams,
  largeBody,
  lineText,
  maxBatch,
  nothing,
  type Route,
  text,
} from '@tradepost/http';
import { z } from 'zod';
import { reshipRefusals } from '../after-sales/reship-cases.ts';
import { shipmentErrors } from './errors.ts';
import type { ShipDeps } from './record-shipments.ts';
import { reshipOrders } from './reship-orders.ts';
import { type ShipOrder, shipOrders } from './ship-orders.ts';

const shipBody = z.object({
  ship_type: z.enum(['initial', 'reship']).default('initial'),
  delivery_type: z.enum(['express', 'local']).default('express'),
  company: lineText(32)
    .default('')
    .meta({ description: 'Carrier code; required for express', examples: ['SF'] }),
  tracking_no: lineText(64)
    .default('')
    .meta({ description: 'Required for express', examples: ['SF1234567890'] }),
  rider_name: lineText(64)
    .default('')
    .meta({ description: 'Local delivery; default: the setting delivery_local.default_rider_name', examples: [''] }),
  rider_phone: lineText(32)
    .default('')
    .meta({ description: 'Local delivery; default: the setting delivery_local.default_rider_phone', examples: [''] }),
  after_sale_case_id: idOrZero()
    .default(0)
    .meta({ description: 'The case of the exchange; required for reship', examples: [0] }),
  remark: text(500)
    .default('')
    .meta({ examples: ['Two parcels'] }),
});

/** The API contract requires a bare array. An incomplete row is refused, and the other rows are shipped. */
const batchShipBody = z
  .array(z.object({ order_id: id(), company: shipBody.shape.company, tracking_no: shipBody.shape.tracking_no }))
  .max(maxBatch)
  .meta({ examples: [[{ order_id: 1, company: 'SF', tracking_no: 'SF1234567890' }]] });

const expressParcel = {
  delivery_type: 'express',
  rider_name: '',
  rider_phone: '',
  remark: '',
} as const;

export function shipmentRoutes(deps: ShipDeps): Route[] {
  return [
    defineRoute({
      method: 'PUT',
      path: '/admin/api/orders/:id/ship',
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Ship a paid order: 2 -> 3; or ship the replacement of an exchange (`reship`)',
      params: idParams,
      body: shipBody,
      response: nothing,
      refuses: [
        shipmentErrors.order_not_found,
        shipmentErrors.cannot_ship,
        shipmentErrors.unsupported_delivery_type,
        shipmentErrors.company_required,
        shipmentErrors.tracking_no_required,
        shipmentErrors.rider_name_required,
        shipmentErrors.rider_phone_required,
        shipmentErrors.reship_needs_case,
        ...reshipRefusals,
        ...deps.holds.map(({ refusal }) => refusal),
      ],
      // A first shipment sends at most six; the others move the case and the stock of an exchange.
      statements: 25,
      repeat: 'recorded',
      async handle({ caller, params, body, write }) {
        const { ship_type, after_sale_case_id, ...parcel } = body;
        const order = { order_id: params.id, ...parcel };
        const [outcome] =
          ship_type === 'reship'
            ? await reshipOrders(deps, [{ ...order, case_id: after_sale_case_id }], caller.id, write)
            : await shipOrders(deps, [order], caller.id, write);
        if (outcome instanceof Error) throw outcome;
        return null;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/orders/batch/ship',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'order:ship',
      tag: 'Orders (admin)',
      summary: 'Ship many paid orders by express; a refused order does not stop the others',
      body: batchShipBody,
      response: batchResultSchema,
      // Six, and when orders can be held one for their locks and one for each kind of hold.
      statements: 6 + (deps.holds.length > 0 ? 1 + deps.holds.length : 0),
      repeat: 'recorded',
      async handle({ caller, body, locale, write }) {
        const requests = body.map((row): ShipOrder => ({ ...expressParcel, ...row }));
        const ids = body.map((row) => row.order_id);
        return batchResult(ids, await shipOrders(deps, requests, caller.id, write), locale);
      },
    }),
  ];
}
